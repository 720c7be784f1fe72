#include "oracle/window/rank_division.hpp"

#include <utility>

#include "oracle/case/rank_keys.hpp"
#include "oracle/tolerance/each.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {

Declared of_the_wire(const Declared& declared, const Case& c) {
  Declared wire = declared;
  wire.accumulate = format_of(wire_of(c));
  return wire;
}

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

Matrix<float> rounded_in_the_buffer(const Declared& declared, const Case& c, Matrix<float> sum) {
  return wire_of(c) == c.precision.accumulate ? sum : rounded_cast(declared.accumulate, sum);
}

Expected in_the_buffer(const Declared& declared, const Case& c, Expected sum) {
  const Dtype wire = wire_of(c), buffer = c.precision.accumulate;
  const bool exact = wire == buffer || buffer == Dtype::fp32;  // holds every number of every wire
  return exact ? std::move(sum) : cast(declared.accumulate, sum);
}

}  // namespace tally::oracle
