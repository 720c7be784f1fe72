#include "reports/record/spread.hpp"

#include <cmath>

namespace tally {

double log10_share(double alpha) { return std::log10(alpha / most_comparisons); }

SpreadVerdict verdict_of(double log10_chance) {
  if (log10_chance < log10_share(family_alpha)) return SpreadVerdict::fail;
  return log10_chance < log10_share(warning_alpha) ? SpreadVerdict::warning : SpreadVerdict::expected;
}

}  // namespace tally
