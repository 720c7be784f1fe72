// The graph of a model: which outputs a layer reads, and who reads a layer's output. Layers stand in the order of
// execution, and a layer reads earlier ones alone, so that no cycle can be written.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

/// The index of the layer whose output is read, or model_input.
using LayerInput = std::ptrdiff_t;
inline constexpr LayerInput model_input = -1;

/// What a case calls the model's input.
inline constexpr const char* model_input_name = "input";

/// What layer i reads, in the order of its list: the layer before it, where it names none. Throws std::logic_error for
/// a name that is no earlier layer's.
std::vector<LayerInput> inputs_of(const Model& model, std::size_t i);
LayerInput first_input_of(const Model& model, std::size_t i);

/// One use of an output: the layer that reads it, and as which of its inputs.
struct LayerReader {
  std::size_t layer, input;
};

/// Everyone who reads the output of layer i, in the order of execution. The loss reads the last layer, and is not
/// among them.
std::vector<LayerReader> readers_of(const Model& model, std::size_t i);

/// What taps call an input of a layer that reads so many: its contract's word for it, "q"; else "x" of one, "x0", "x1",
/// … of several.
std::string input_word(const Layer& layer, std::size_t inputs, std::size_t input);

/// The full name of a layer's parameter, "fc1.weight"; of a tied weight the table's.
std::string parameter_name(const Layer& layer, std::string_view tensor);

/// Whether its weight is another layer's table, and that one trains.
bool trains_tied_weight(const Model& model, const Layer& layer);

/// A parameter that several layers read: the table of an embedding, and linear layers that are tied to it. Its gradient
/// is the sum of what they give, (add.3).
struct SharedParameter {
  std::string name;
  std::vector<std::size_t> users;  // layers, in the order of execution
};
std::vector<SharedParameter> shared_parameters(const Model& model);

/// What taps call the gradient that the layer gives for its parameter: "d.fc1.weight", "d.wte.weight@head" of a shared
/// one.
std::string gradient_name(const Model& model, std::size_t layer, std::string_view tensor);

/// Whether the list says no more than its absence would.
bool reads_layer_before(const Model& model, std::size_t i);
/// Whether every layer reads the one before it.
bool is_chain(const Model& model);

/// All of it at once, by layer.
struct Graph {
  std::vector<std::vector<LayerInput>> inputs;
  std::vector<std::vector<LayerReader>> readers;
  std::vector<bool> reached;  // by a gradient: it has parameters, or one of its inputs is reached
};
/// Throws std::logic_error for a name that is no earlier layer's.
Graph graph_of(const Model& model);

}  // namespace tally
