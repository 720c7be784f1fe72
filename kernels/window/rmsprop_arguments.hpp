// What the kernel of RMSProp takes.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// Gradient fp32; the others in the master format, in place. `momentum_buffer` is nullptr without momentum.
struct RmspropArguments {
  const float* gradient;
  void *parameter, *square_avg, *momentum_buffer;
  std::int64_t elements;
  float rate, alpha, one_minus_alpha, eps, mu;
  Dtype format = Dtype::fp32;
};

}  // namespace tally
