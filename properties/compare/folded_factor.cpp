#include "properties/compare/folded_factor.hpp"

#include <cmath>

#include "oracle/tolerance/rule.hpp"

namespace tally {

oracle::Expected folded(oracle::Expected factor) {
  constexpr int roundings = 4;  // two of c as predicted, two of the constants that take its place
  const double size = std::fabs(static_cast<double>(factor.v(0, 0)));
  factor.e(0, 0) += size * oracle::gam(roundings, oracle::single().u());
  return factor;
}

oracle::Expected of_folded(oracle::Expected dy, const oracle::Expected& factor, std::int64_t rows) {
  const double rest = std::fabs(static_cast<double>(factor.v(0, 0))) + factor.e(0, 0);
  dy.e.array() += oracle::single().underflow() * rest * static_cast<double>(rows) * oracle::inflation;
  return dy;
}

}  // namespace tally
