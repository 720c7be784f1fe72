// rotary: (rotary.1) and (rotary.2) as two products and a sum in fp32, by cosines and sines that come from a table.
// `table`: worked out in binary64 and rounded once to fp32. `stored`, and where nothing is claimed: angles in fp32,
// cosine and sine by functions within 2 ulp, both stored, and every product stored.
//
// The angle p B^(-2 i / r) of a table in binary64 is off by a rounding of the exponent, which the power multiplies by
// (2 i / r) |ln B|, by the power's own two ulp and by one product; in fp32 by one rounding each of the exponent, of a
// reciprocal, of the position and of the product, and the power's two ulp. No cosine is further off than its angle,
// nor than 2.
#include <algorithm>
#include <cmath>

#include "oracle/layers/rotary_angle.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle::rotary_bound {
namespace {

/// The cosine and the sine of one angle as a subject may hold them.
struct Turn {
  Bounded cosine, sine;
};

class Turns {
 public:
  Turns(const BoundPass& pass, const RotaryPairs& pairs, const char* direction)
      : rotary_(pass.layer),
        positions_(pass.tensors.at("positions").v),
        rotated_(static_cast<double>(pairs.rotated)),
        logarithm_(std::log(pass.layer.number("base").to_double())),
        storage_(pass.declared.storage),
        stores_(claim_of(pass.declared, std::string("rotary") + direction).algorithm != "table") {}

  bool stores() const { return stores_; }

  Turn of(Eigen::Index row, std::int64_t i) const {
    if (positions_(row) == 0) return {{1, 0}, {0, 0}};
    const long double exact = positions_(row) * frequency<long double>(rotary_, i, static_cast<std::int64_t>(rotated_));
    const double exponent = 2 * static_cast<double>(i) / rotated_, angle = static_cast<double>(exact);
    const double u = stores_ ? 0x1p-24 : 0x1p-53;
    const double power = exponent == 0 ? 0 : std::expm1(u * std::fabs(exponent * logarithm_) * pays) + 6 * u;
    const double off = std::min(2.0, std::fabs(angle) * (power + 2 * u) * (1 + 0x1p-8));
    return {held(static_cast<double>(std::cos(exact)), off), held(static_cast<double>(std::sin(exact)), off)};
  }

 private:
  /// A function's value as the table holds it: within 2 ulp of its own format, at most 4 u of 1, then rounded.
  Bounded held(double value, double off) const {
    const Bounded worked_out{value, std::min(2.0, off + (stores_ ? 4 * 0x1p-24 : 0x1p-51))};
    if (stores_) return storage_.store(worked_out);
    return {worked_out.v, worked_out.e + (std::fabs(worked_out.v) + worked_out.e) * 0x1p-24 * pays};
  }

  const Choice& rotary_;
  const Matrix<long double>& positions_;
  double rotated_, logarithm_;
  Arithmetic storage_;
  bool stores_;
};

/// Every pair turned forth or back.
BoundedMatrix turned(const BoundPass& pass, const Expected& in, bool back) {
  const RotaryPairs pairs(pass.layer, in.v.cols());
  const Turns turns(pass, pairs, back ? ".backward" : ".forward");
  const Arithmetic fp32 = single(), storage(pass.declared.storage);
  const auto product = [&](Bounded x, Bounded by) {
    const Bounded exact = fp32.mul(x, by);
    return turns.stores() ? storage.store(exact) : exact;
  };
  const BoundedMatrix x(in);
  BoundedMatrix y(in);
  for (Eigen::Index row = 0; row < y.rows(); ++row) {
    for (std::int64_t i = 0; i < pairs.pairs(); ++i) {
      const Turn turn = turns.of(row, i);
      const Bounded c = turn.cosine, s = back ? Bounded{-turn.sine.v, turn.sine.e} : turn.sine;
      for (std::int64_t h = 0; h < pairs.heads; ++h) {
        const std::int64_t first = pairs.first(h, i), second = pairs.second(h, i);
        const Bounded a = x.at(row, first), b = x.at(row, second);
        y.set(row, first, storage.store(fp32.sub(product(a, c), product(b, s))));
        y.set(row, second, storage.store(fp32.add(product(b, c), product(a, s))));
      }
    }
  }
  return y;
}

ExpectedForward forward(const BoundPass& pass, const Expected& x) {
  return {joined([&] { return exact_forward(pass, x).y; }, turned(pass, x, false)), {}, {}, {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return {joined([&] { return exact_backward(pass, x, dy).dx; }, turned(pass, dy, true)), {}};
}

const RegisterBoundRule registered("rotary", {forward, backward});

}  // namespace
}  // namespace tally::oracle::rotary_bound
