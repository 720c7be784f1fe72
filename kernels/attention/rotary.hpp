// The table that the kernels of a rotary layer read: cosine and sine of every row's angles.
#pragma once

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/layers/heads.hpp"

namespace tally {

/// How a table is worked out: angles in binary64, each cosine and sine rounded once to fp32; or angles, cosines and
/// sines in fp32, then stored in S.
enum class TableOf { binary64, stored_fp32 };

/// fp32 [rows, rotated]: of each row the cosines of its rotated / 2 angles, then their sines, (rotary.1). `positions`
/// i64 [rows].
Tensor turns_of(const Choice& rotary, const RotaryPairs& pairs, const Tensor& positions, TableOf table, Dtype storage);

}  // namespace tally
