// Taps of the stage `count`: what the items of a micro-batch are counted from, and the counts.
#pragma once

#include <optional>

#include "kernels/trace/trace_layout.hpp"

namespace tally {

/// nullopt where the case has no such tap. The window and micro-batch are the case's.
std::optional<TapLayout> count_layout(const Case& c, const TapName& name);

}  // namespace tally
