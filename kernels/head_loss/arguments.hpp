// What a kernel takes that runs the last linear layer and the softmax cross-entropy as one.
#pragma once

#include "kernels/layer_arguments.hpp"

namespace tally {

/// Rows of a micro-batch whose logits are there at once.
inline constexpr std::int64_t head_chunk = 4;

/// The logits are x [rows, width] S times weight [classes, width] S, and bias [classes] S or nullptr. `loss` is the
/// loss over all rows, whose z and dz have room for `head_chunk` rows, fp32 [head_chunk, classes]; its storage is not
/// read. Where they are not nullptr: dx [rows, width], dw [classes, width] and db [classes], all S; dw_sum and db_sum
/// fp32, as dw and db, in which they are added.
struct HeadLossArguments {
  Dtype storage;
  const void *x, *weight, *bias;
  CrossEntropyArguments loss;
  std::int64_t width;
  void *dx, *dw, *db;
  float *dw_sum, *db_sum;
};

}  // namespace tally
