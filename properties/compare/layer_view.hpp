// A layer of the case as the lenses see it: label, tensors by short name, and whether gradients reach it.
#pragma once

#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct LayerView {
  const Layer* layer;
  std::string label;
  std::vector<std::string> parameters;                                       // short names: "weight", "bias"
  bool mask = false;                                                         // dropout
  bool frozen = false, window_statistics = false, batch_statistics = false;  // of batch_norm; the last: micro_batch
  bool has_gradient = false;                                                 // backward reaches it
  bool gives_dx = false;  // and passes a gradient on to the layer below

  std::string full_name(const std::string& parameter) const { return label + "." + parameter; }
};

std::vector<LayerView> layers_of(const Model& model);

/// Whether a tap of this stage is given by the capture of an opaque model, or what made it is not known: then it may be
/// missing, and is no more than read where it is there.
bool is_given(const Model& model, const std::string& stage);

/// With window statistics the micro-batches of a window go through the model together.
bool in_lockstep(const std::vector<LayerView>& layers);

}  // namespace tally
