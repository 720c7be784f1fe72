// What the kernels of a slice layer take.
#pragma once

#include <cstdint>

#include "oracle/case/tensor.hpp"

namespace tally {

/// part [rows, width] S and whole [rows, features] S, of which the part are the features from `begin` on. Forward
/// copies them out of the whole; backward copies the part into the whole, and 0 everywhere else.
struct SliceArguments {
  Dtype storage;
  const void* from;
  void* to;
  std::int64_t rows, features, begin, width;
};

}  // namespace tally
