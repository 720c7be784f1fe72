// What the kernels of ranks take.
#pragma once

#include <cstdint>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// out = in * factor, rounded to `format`: what travels between ranks.
struct RankScaleArguments {
  Dtype from;
  const void* in;
  Dtype format;
  void* out;
  float factor;
  std::int64_t elements;
};

/// sum += addend, both in `format`, which every sum is rounded to.
struct RankSumArguments {
  Dtype format;
  void* sum;
  const void* addend;
  std::int64_t elements;
};

}  // namespace tally
