// What the kernels of sharpness-aware minimisation take.
#pragma once

#include <cstdint>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// Norm and coefficient fp32 []. `up`: in the first window of two.
struct SamCoefficientArguments {
  const float* norm;
  float* coefficient;
  float rho, epsilon;
  bool up;
};

/// Gradient fp32 [elements], parameter and kept weights [elements] in the master format; `up` writes both, else the
/// parameter alone.
struct SamArguments {
  const float* gradient;
  void *parameter, *kept;
  std::int64_t elements;
  float rate;
  bool up;
  Dtype format = Dtype::fp32;
};

}  // namespace tally
