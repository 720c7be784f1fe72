// What a stage reads, somebody left: which tap, by the graph of a window.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/graph/window_graph.hpp"

namespace tally {

/// The outputs that the input `read` ("in.…") may be, the likeliest first; some of them may not be there, as a skipped
/// window steps nothing. Empty for inputs that no stage before left: of the case, and constants.
std::vector<TapName> producers_of(const Case& c, const WindowGraph& graph, const TapName& read);

}  // namespace tally
