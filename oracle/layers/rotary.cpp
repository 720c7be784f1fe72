// Pair i of a head is (a, b), r the features that turn, p the row's position, B the base.
// (rotary.1)  y_a = a cos φ - b sin φ,  y_b = b cos φ + a sin φ,  φ = p B^(-2 i / r)
// (rotary.2)  da = dy_a cos φ + dy_b sin φ,  db = dy_b cos φ - dy_a sin φ
// What does not turn is copied. Positions have no gradient.
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

#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/sizes.hpp"
#include "oracle/layers/functions.hpp"
#include "oracle/layers/heads.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally {
namespace {

std::vector<Misfit> rotary_sizes(const Choice& layer, const std::vector<std::int64_t>& features) {
  if (features.size() != 1) return {};  // the list of inputs says so itself
  const std::int64_t heads = layer.integer("heads");
  if (features[0] % heads != 0)
    return {{"heads", std::to_string(heads), "a divisor of " + std::to_string(features[0]) + ", the features"}};
  const RotaryPairs pairs(layer, features[0]);
  const std::string size = std::to_string(pairs.size) + ", the features of a head";
  if (pairs.rotated > pairs.size) return {{"dimensions", std::to_string(pairs.rotated), "at most " + size}};
  if (pairs.rotated % 2 != 0)
    return {{"dimensions", std::to_string(pairs.rotated), "an even number, which makes pairs, up to " + size}};
  return {};
}

const Contract rotary_contract{
    .kind = "rotary",
    .options =
        {{.name = "heads", .type = OptionType::integer, .standard = std::nullopt, .range = {.at_least = "1"}},
         {.name = "base", .type = OptionType::number, .standard = Decimal{"10000"}, .range = {.above = "0"}},
         {.name = "dimensions", .type = OptionType::integer, .standard = std::int64_t{0}, .range = {.at_least = "0"}},
         {.name = "pairing",
          .type = OptionType::text,
          .standard = std::string("half"),
          .words = {"half", "interleaved"}}},
    .drawn = false,
    .input_misfits = rotary_sizes,
    .reads_positions = true,
    .definition = "y = x, each head's pairs of features turned by position · base^(-2 i / dimensions)"};

template <class Of>
std::vector<std::int64_t> of_rotary(const Case& c, Of of) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < c.model.layers.size(); ++i)
    if (c.model.layers[i].kind == kinds::rotary)
      found.push_back(of(RotaryPairs(c.model.layers[i], features_before(c.model, i))));
  return found;
}
std::vector<std::int64_t> turning(const Case& c) {
  return of_rotary(c, [](const RotaryPairs& pairs) { return pairs.pairs(); });
}
std::vector<std::int64_t> standing_still(const Case& c) {
  return of_rotary(c, [](const RotaryPairs& pairs) { return pairs.size - pairs.rotated; });
}
const Register<DeclaredSize> registered_pairs{{.name = "pairs of a head that turn", .least = 1, .in = turning}};
const Register<DeclaredSize> registered_still{{.name = "features of a head that stand still", .in = standing_still}};

std::int64_t rotated_of(const Choice& rotary, std::int64_t size) {
  const std::int64_t given = rotary.integer("dimensions");
  return given == 0 ? size : given;
}

}  // namespace

RotaryPairs::RotaryPairs(const Choice& rotary, std::int64_t features)
    : heads(rotary.integer("heads")),
      size(features / heads),
      rotated(rotated_of(rotary, size)),
      interleaved(rotary.text("pairing") == "interleaved") {}

}  // namespace tally

namespace tally::oracle::rotary_kind {
namespace {

/// Every pair turned by φ, or by -φ.
template <class T>
Matrix<T> turned(const Pass<T>& pass, const Matrix<T>& x, bool back) {
  const RotaryPairs pairs(pass.layer, x.cols());
  const Matrix<T>& positions = pass.tensors.at("positions");
  Matrix<T> y = x;
  for (std::int64_t i = 0; i < pairs.pairs(); ++i) {
    const T turn = frequency<T>(pass.layer, i, pairs.rotated);
    for (Eigen::Index row = 0; row < x.rows(); ++row) {
      const T angle = positions(row) * turn, c = cos(angle), s = back ? T(-sin(angle)) : T(sin(angle));
      for (std::int64_t h = 0; h < pairs.heads; ++h) {
        const std::int64_t first = pairs.first(h, i), second = pairs.second(h, i);
        const T &a = x(row, first), &b = x(row, second);
        y(row, first) = a * c - b * s;
        y(row, second) = b * c + a * s;
      }
    }
  }
  return y;
}

template <class T>
ForwardResult<T> forward(const Pass<T>& pass, const Matrix<T>& x) {
  return {turned(pass, x, false), {}, {}};
}

template <class T>
BackwardResult<T> backward(const Pass<T>& pass, const Matrix<T>&, const Matrix<T>& dy) {
  return {turned(pass, dy, true), {}};
}

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
        storage_(pass.declared, pass.declared.storage),
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
  const Arithmetic fp32 = single(pass.declared), storage(pass.declared, pass.declared.storage);
  const auto product = [&](Bounded x, Bounded by) {
    const Bounded exact = fp32.mul(x, by);
    return turns.stores() ? storage.store(exact) : exact;
  };
  const BoundedMatrix x(pass.declared, in);
  BoundedMatrix y(pass.declared, in);
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
  return {joined(
              pass.declared, [&] { return exact_forward(pass, x).y; }, turned(pass, x, false)),
          {},
          {},
          {}};
}

ExpectedBackward backward(const BoundPass& pass, const Expected& x, const Expected& dy) {
  return {joined(
              pass.declared, [&] { return exact_backward(pass, x, dy).dx; }, turned(pass, dy, true)),
          {}};
}

const Register<LayerDefinition> registered{{rotary_contract,
                                            []<class T>(Scalar<T>) -> ExactLayer<T> {
                                              return {forward<T>, backward<T>};
                                            },
                                            {{forward, backward}}}};

}  // namespace
}  // namespace tally::oracle::rotary_kind
