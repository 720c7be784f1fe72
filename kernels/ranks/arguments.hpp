// What the kernels of ranks take.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// sum += addend, both in `format`, which every sum is rounded to.
struct RankSumArguments {
  Dtype format;
  void* sum;
  const void* addend;
  std::int64_t elements;
};

}  // namespace tally
