// What a stage reads, somebody left: which tap, by the names of kernels/trace/trace.md.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "properties/compare/layer_view.hpp"

namespace tally {

/// The outputs that the input `read` ("in.…") may be, the likeliest first: those that a recipe lacks are among them, as
/// clip's gradient is without a clip. Empty for inputs that no stage before left: of the case, and constants.
std::vector<TapName> producers_of(const Case& c, const std::vector<LayerView>& layers, const TapName& read);

}  // namespace tally
