// Which taps a case can have, and their formats and shapes: the table of kernels/trace/trace.md as a function.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"

namespace tally {

/// What a tap must look like.
struct TapLayout {
  Dtype dtype;
  std::vector<std::int64_t> shape;
};

/// nullopt when the case has no such tap: an unknown window, micro-batch, stage or tensor.
std::optional<TapLayout> layout_of(const Case& c, const TapName& name);

}  // namespace tally
