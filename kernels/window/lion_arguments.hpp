// What the kernel of Lion takes.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// Gradient fp32; parameter and exp_avg in the master format, in place.
struct LionArguments {
  const float* gradient;
  void *parameter, *exp_avg;
  std::int64_t elements;
  float rate, beta1, one_minus_beta1, beta2, one_minus_beta2;
  Dtype format = Dtype::fp32;
};

}  // namespace tally
