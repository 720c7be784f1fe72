// Families of hard cases: inputs chosen to hurt the arithmetic, each run like a clean case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"

namespace tally {

struct HardFamily {
  std::string name, hurts;  // what it is, and what it does to the arithmetic
  /// A case of the family, another one for every seed; what the family leaves open (recipe, sizes) is drawn.
  Case (*make)(Dtype storage, std::uint64_t seed);
  int weight = 1;  // cases, relative to the other families
};

const std::vector<HardFamily>& hard_families();

}  // namespace tally
