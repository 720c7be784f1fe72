// Taps of layers by what they read, and of the stage `fork`: what the readers of an output gave, `in.d.<reader>.<input>`,
// and their sum, `d.<L>.y`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oracle/case/graph.hpp"

namespace tally {

/// Which input of the layer taps call by this word; nullopt: none.
std::optional<std::size_t> input_called(const Model& model, std::size_t layer, std::string_view word);

/// Features of the gradient that a layer gives for the input of this word; nullopt where that is no part of a fork.
std::optional<std::int64_t> features_given(const Model& model, std::size_t layer, std::string_view word);

/// The parameter of which this is one layer's gradient, "wte.weight@head"; nullopt: none that several layers read.
std::optional<std::string> shared_parameter_called(const Model& model, std::string_view gradient);
/// Whether several layers read the parameter.
bool is_shared(const Model& model, std::string_view parameter);

/// Features of a layer's output, "y", whose gradient several readers give; nullopt otherwise.
std::optional<std::int64_t> features_forked(const Model& model, std::size_t layer, std::string_view tensor);

}  // namespace tally
