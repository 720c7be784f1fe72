// What a lens expected of a tap, element by element, and what came: plain numbers.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"

namespace tally {

struct HeldTensor {
  TapName name;
  Dtype dtype;
  std::vector<double> expected, got;
  std::vector<double> bound = {};  // empty: bit for bit
};

}  // namespace tally
