#include "reports/compare/timing.hpp"

#include <stdexcept>

#include "reports/census/census.hpp"
#include "reports/compare/accuracy.hpp"
#include "reports/statistics/paired.hpp"
#include "reports/text/numbers.hpp"

namespace tally {

Timing timing_of(std::vector<double> before, std::vector<double> now) {
  if (before.size() != now.size() || before.empty())
    throw std::invalid_argument("timing: expected as many runs of one program as of the other, and one at least");
  Timing timing{std::move(before), std::move(now), 1, 1, 1, "undecided"};
  std::vector<double> ratios, growth, fall;
  for (std::size_t i = 0; i < timing.now.size(); ++i) {
    ratios.push_back(timing.now[i] / timing.before[i]);
    growth.push_back(timing.now[i] - timing.before[i]);
    fall.push_back(-growth.back());
  }
  timing.factor = median_of(ratios);
  timing.low = median_lower_limit(ratios, false_verdict_chance);
  timing.high = median_upper_limit(ratios, false_verdict_chance);
  if (signed_rank_test(growth) <= false_verdict_chance && timing.low > 1) timing.verdict = "slower";
  if (signed_rank_test(fall) <= false_verdict_chance && timing.high < 1) timing.verdict = "faster";
  return timing;
}

std::string text_of(const Timing& timing) {
  return "time of the campaign " + significant(timing.factor) + "x [" + significant(timing.low) + ", " +
         significant(timing.high) + "] " + timing.verdict + ", " + counted(timing.now.size(), "pair") + " of runs";
}

}  // namespace tally
