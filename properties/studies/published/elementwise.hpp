// |got - expected| <= atol + rtol |expected|, element by element: what torch.isclose and numpy.isclose share.
#pragma once

#include <cmath>
#include <vector>

namespace tally {

struct RelativeAndAbsolute {
  double rtol = 0, atol = 0;
};

/// Equal infinities are close, an infinity and anything else are not; NaN is close to NaN only where `equal_nan`.
inline bool elementwise_close(const std::vector<double>& got, const std::vector<double>& expected,
                              const RelativeAndAbsolute& allowed, bool equal_nan) {
  if (got.size() != expected.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i] || (equal_nan && std::isnan(got[i]) && std::isnan(expected[i]))) continue;
    if (!std::isfinite(got[i]) || !std::isfinite(expected[i])) return false;
    if (!(std::fabs(got[i] - expected[i]) <= allowed.atol + allowed.rtol * std::fabs(expected[i]))) return false;
  }
  return true;
}

}  // namespace tally
