// What the kernel of this optimizer takes.
#pragma once

#include <cstdint>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

struct DescentArguments {
  const float* gradient;
  void* parameter;
  std::int64_t elements;
  float rate;
  Dtype format = Dtype::fp32;  // of the parameter
};

}  // namespace tally
