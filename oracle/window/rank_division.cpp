#include "oracle/window/rank_division.hpp"

#include "oracle/tolerance/each.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

Matrix<float> rounded_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Matrix<float>& x) {
  return rounded_cast(declared.accumulate, factor ? Matrix<float>(x * factor->held) : x);
}

Expected on_the_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Expected& x) {
  if (!factor) return cast(declared.accumulate, x);
  const Arithmetic in(declared.accumulate);
  const auto off = static_cast<double>(std::fabs(static_cast<long double>(factor->held) - factor->exact));
  const Bounded by{static_cast<double>(factor->exact), off * inflation};
  return joined(x.v * factor->exact, each([&](Bounded number) { return in.store(single().mul(number, by)); }, x));
}

}  // namespace tally::oracle
