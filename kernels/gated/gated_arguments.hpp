// What the kernels of a gated layer take.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// y from gate and up; or dgate and dup from these and dy. All S, `elements` long. What a kernel does not take is
/// nullptr.
struct GatedArguments {
  Dtype storage;
  const void *gate, *up, *dy;
  void *y, *dgate, *dup;
  std::int64_t elements;
};

}  // namespace tally
