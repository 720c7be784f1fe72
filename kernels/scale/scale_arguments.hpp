// What the kernels of a scale layer take.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// out = fl(x · factor), forward and backward alike. All S, `elements` long.
struct ScaleArguments {
  Dtype storage;
  const void* x;
  void* out;
  std::int64_t elements;
  float factor;
};

}  // namespace tally
