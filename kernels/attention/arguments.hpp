// What attention's kernels take: AttentionArguments, and the mask that drops weights.
#pragma once

#include <cstdint>

#include "kernels/layer_arguments.hpp"

namespace tally {

/// Row i of query head h keeps its weight of row j where mask[h pairs + p] is not 0, p the number of pair (i, j) among
/// the pairs of rows of one sequence (oracle/case/pairs.hpp), counted in the micro-batch; what is kept is multiplied by
/// `kept`. Without a mask every weight is kept as it is.
struct MaskedAttention : AttentionArguments {
  const std::uint8_t* mask = nullptr;  // u8 [heads, pairs]
  std::int64_t pairs = 0;
  float kept = 1;  // 1 / (1 - p)
};

}  // namespace tally
