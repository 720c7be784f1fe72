#include <cmath>

#include "reports/statistics/binomial.hpp"
#include "reports/statistics/paired.hpp"

namespace tally {

double binomial_tail(std::uint64_t least, std::uint64_t n, double share) {
  if (least == 0) return 1;
  if (least > n || share <= 0) return 0;
  if (share >= 1) return 1;
  double tail = 0;
  const double all = std::lgamma(static_cast<double>(n) + 1);
  for (std::uint64_t k = n; k >= least; --k) {
    const auto x = static_cast<double>(k), rest = static_cast<double>(n - k);
    tail +=
        std::exp(all - std::lgamma(x + 1) - std::lgamma(rest + 1) + x * std::log(share) + rest * std::log1p(-share));
  }
  return std::fmin(tail, 1);
}

double sign_test(std::uint64_t successes, std::uint64_t trials) { return binomial_tail(successes, trials, 0.5); }

}  // namespace tally
