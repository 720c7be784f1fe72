#include "reports/text/fault_words.hpp"

#include <cmath>

namespace tally {

std::string smallest_caught_word(const FaultRecord& fault) {
  const double smallest = fault.smallest_caught;
  if (!(smallest > 0)) return "\u2013";
  return smallest == 1 ? "1" : "2^" + std::to_string(std::ilogb(smallest));
}

}  // namespace tally
