// A layer of the case as the lenses see it: label, tensors by short name, and whether gradients reach it.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/graph.hpp"

namespace tally {

struct LayerView {
  const Layer* layer;
  std::string label;
  std::vector<std::string> parameters;                                       // that train, short: "weight", "bias"
  std::vector<std::string> frozen_parameters;                                // the others
  bool mask = false;                                                         // dropout
  bool frozen = false, window_statistics = false, batch_statistics = false;  // of batch_norm; the last: of parts
  bool step_statistics = false;  // micro_step: of ranks those of a micro-step, of one rank as micro_batch
  bool has_gradient = false;     // backward reaches it
  bool gives_dx = false;         // and passes a gradient on to what it reads
  bool hands_on = false;         // its own, bit for bit: nothing is computed in backward
  bool reads_tokens = false, reads_positions = false;
  bool looks_up = false;         // rows of its table, by one of them
  bool reads_sequences = false;  // and other rows of a row's sequence
  bool shares_weight = false;    // other layers read it too
  const Contract* contract = nullptr;
  std::vector<LayerInput> inputs = {};    // what it reads, in the order of its list
  std::vector<LayerReader> readers = {};  // who reads its output

  /// All parameters that it reads, by short names.
  std::vector<std::string> weights() const {
    std::vector<std::string> all = parameters;
    all.insert(all.end(), frozen_parameters.begin(), frozen_parameters.end());
    return all;
  }
  /// Whether the gradient of its output is the sum of what several readers give.
  bool forked() const { return has_gradient && readers.size() > 1; }
  /// What taps call one of its inputs: "fc1.x", "sum.x0", "tokens".
  std::string input_name(std::size_t input) const {
    return reads_tokens ? "tokens" : label + "." + input_word(*layer, inputs.size(), input);
  }
  /// What the rule of its backward calls the gradient of one of them: "dx", "dx1", ….
  static std::string gradient_of_input(std::size_t input) { return input == 0 ? "dx" : "dx" + std::to_string(input); }
  std::string full_name(const std::string& parameter) const {
    return layer->tied.empty() ? label + "." + parameter : parameter_name(*layer, parameter);
  }
  /// What taps call the gradient that this layer gives for a parameter: "d.fc1.weight", "d.wte.weight@head".
  std::string gradient_name(const std::string& parameter) const {
    return "d." + full_name(parameter) + (shares_weight && parameter == "weight" ? "@" + label : "");
  }
};

std::vector<LayerView> layers_of(const Model& model);

/// A tap's stage and tensor.
struct StageTensor {
  std::string stage, tensor;
};
/// Where the gradient of a layer's output stands: what its readers gave, or the loss.
StageTensor gradient_of_output(const std::vector<LayerView>& layers, const LayerView& layer);
/// Where the gradient stands that a reader gives for what it reads.
StageTensor gradient_given_by(const std::vector<LayerView>& layers, const LayerReader& reader);

/// Where a micro-batch's gradient of a parameter stands: in backward, or where several layers' are added.
StageTensor gradient_of_parameter(const std::vector<LayerView>& layers, const std::string& parameter);

/// Whether a tap of this stage is given by the capture of an opaque model, or what made it is not known: then it may be
/// missing, and is no more than read where it is there.
bool is_given(const Model& model, const std::string& stage);

/// With window statistics the micro-batches of a window go through the model together.
bool in_lockstep(const std::vector<LayerView>& layers);

}  // namespace tally
