#include "properties/studies/evidence/ratio_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tally {

int RatioHistogram::bin_of(double r) {
  if (!(r < 1)) return bins - 1;
  int exponent = 0;
  const double mantissa = 2 * std::frexp(r, &exponent);  // in [1, 2): r = mantissa * 2^(exponent - 1)
  return std::max(0, (exponent - 1 + octaves) * steps + static_cast<int>((mantissa - 1) * steps));
}

double RatioHistogram::lower_edge(int bin) {
  return std::ldexp(1 + static_cast<double>(bin % steps) / steps, bin / steps - octaves);
}

void RatioHistogram::merge(const RatioHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::uint64_t RatioHistogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double RatioHistogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(count());
  std::uint64_t reached = 0;
  for (int bin = 0; bin < bins; ++bin) {
    reached += count_in(bin);
    if (reached > 0 && static_cast<double>(reached) >= wanted) return lower_edge(bin);
  }
  return 0;
}

}  // namespace tally
