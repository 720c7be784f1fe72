// What the kernels of a rotary layer take.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// Every pair of x [rows, heads size] S turned into y, S: forth, or back by the negative sine. turns fp32
/// [rows, rotated]: of each row the cosines of its rotated / 2 angles, then their sines.
struct RotaryArguments {
  Dtype storage;
  const void* x;
  void* y;
  const float* turns;
  std::int64_t rows, heads, size, rotated;
  bool interleaved, back;
};

}  // namespace tally
