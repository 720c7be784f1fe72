// Sums over ranks, what is divided out around them, and norms, with bounds.
#include "oracle/window/rank_stages.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "oracle/case/rank_keys.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/elementwise.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
namespace {

std::string algorithm_of(const Declared& declared) { return claim_of(declared, "reduce").algorithm; }

/// The additions of each chunk, made once.
class Orders {
 public:
  Orders(const Declared& declared, int ranks) : algorithm_(algorithm_of(declared)), ranks_(ranks) {}
  const RankAdditions& of(int chunk) {
    const int number = algorithm_ == "ring" ? chunk : 0;
    const auto known = orders_.find(number);
    if (known != orders_.end()) return known->second;
    return orders_.emplace(number, rank_additions(algorithm_, ranks_, number)).first->second;
  }

 private:
  const std::string algorithm_;
  const int ranks_;
  std::map<int, RankAdditions> orders_;
};

/// values[sum] once all additions are made.
template <class T, class Add>
T added(const RankAdditions& order, std::vector<T>& values, Add add) {
  for (const auto& [to, from] : order.steps) {
    T& sum = values[static_cast<std::size_t>(to)];
    sum = add(sum, values[static_cast<std::size_t>(from)]);
  }
  return values[static_cast<std::size_t>(order.sum)];
}

/// What additions are rounded to.
Format added_in(const Declared& declared, RankRounding rounding) {
  return rounding == RankRounding::once ? format_of(Dtype::fp32) : declared.accumulate;
}

/// A sum as it travels on.
Bounded stored(const Declared& declared, RankRounding rounding, Bounded sum) {
  return rounding == RankRounding::once ? Arithmetic(declared, declared.accumulate).store(sum) : sum;
}

Bounded read(const Declared& declared, const Expected& x, Eigen::Index i) {
  return {static_cast<double>(x.v.data()[i]), declared.incoming(x.e.data()[i])};
}

}  // namespace

RankRounding rank_rounding(const Case& c) { return adds_in_fp32(c) ? RankRounding::once : RankRounding::each; }

std::optional<Matrix<float>> rounded_over_ranks(const Declared& declared, const PlaceInBucket& place,
                                                const std::vector<Matrix<float>>& addends, RankRounding rounding) {
  if (!claims_an_order(algorithm_of(declared))) return {};
  const Format in = added_in(declared, rounding);
  Orders orders(declared, static_cast<int>(addends.size()));
  Matrix<float> sum = addends.front();
  std::vector<float> values(addends.size());
  for (Eigen::Index i = 0; i < sum.size(); ++i) {
    for (std::size_t rank = 0; rank < addends.size(); ++rank) values[rank] = addends[rank].data()[i];
    sum.data()[i] = added(orders.of(place.chunk_of(i)), values,
                          [&](float x, float y) { return static_cast<float>(rounded_sum(in, x, y)); });
  }
  return rounding == RankRounding::once ? rounded_cast(declared.accumulate, sum) : sum;
}

namespace {

Matrix<long double> exact_sum(const std::vector<const Expected*>& addends) {
  Matrix<long double> exact = addends.front()->v;
  for (std::size_t rank = 1; rank < addends.size(); ++rank) exact += addends[rank]->v;
  return exact;
}

}  // namespace

Expected summed_in_any_order(const Declared& declared, const std::vector<const Expected*>& addends,
                             RankRounding rounding) {
  const Arithmetic in(declared, added_in(declared, rounding));
  const Matrix<long double> exact = exact_sum(addends);
  BoundedMatrix bound(exact.rows(), exact.cols());
  for (Eigen::Index i = 0; i < exact.size(); ++i) {
    Addends terms;
    for (const Expected* each : addends) terms.add(read(declared, *each, i));
    bound.set(i, stored(declared, rounding, in.sum(terms)));
  }
  return joined(declared, exact, bound);
}

Expected summed_over_ranks(const Declared& declared, const PlaceInBucket& place,
                           const std::vector<const Expected*>& addends, RankRounding rounding) {
  if (!claims_an_order(algorithm_of(declared))) return summed_in_any_order(declared, addends, rounding);
  const Arithmetic in(declared, added_in(declared, rounding));
  Orders orders(declared, static_cast<int>(addends.size()));
  const Matrix<long double> exact = exact_sum(addends);
  BoundedMatrix bound(exact.rows(), exact.cols());
  std::vector<Bounded> values(addends.size());
  for (Eigen::Index i = 0; i < exact.size(); ++i) {
    for (std::size_t rank = 0; rank < addends.size(); ++rank) values[rank] = read(declared, *addends[rank], i);
    const Bounded sum = added(orders.of(place.chunk_of(i)), values, [&](Bounded x, Bounded y) { return in.add(x, y); });
    bound.set(i, stored(declared, rounding, sum));
  }
  return joined(declared, exact, bound);
}

Declared of_the_wire(const Declared& declared, const Case& c) {
  Declared wire = declared;
  wire.accumulate = format_of(wire_of(c));
  return wire;
}

Matrix<float> rounded_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Matrix<float>& x) {
  return rounded_cast(declared.accumulate, factor ? Matrix<float>(x * factor->held) : x);
}

Expected on_the_wire(const Declared& declared, const std::optional<RankFactor>& factor, const Expected& x) {
  if (!factor) return cast(declared, declared.accumulate, x);
  const Arithmetic in(declared, declared.accumulate);
  const auto off = static_cast<double>(std::fabs(static_cast<long double>(factor->held) - factor->exact));
  const Bounded by{static_cast<double>(factor->exact), off * inflation};
  return joined(declared, x.v * factor->exact,
                each(
                    declared, [&](Bounded number) { return in.store(single(declared).mul(number, by)); }, x));
}

Matrix<float> rounded_in_the_buffer(const Declared& declared, const Case& c, Matrix<float> sum) {
  return wire_of(c) == c.precision.accumulate ? sum : rounded_cast(declared.accumulate, sum);
}

Expected in_the_buffer(const Declared& declared, const Case& c, Expected sum) {
  const Dtype wire = wire_of(c), buffer = c.precision.accumulate;
  const bool exact = wire == buffer || buffer == Dtype::fp32;  // holds every number of every wire
  return exact ? std::move(sum) : cast(declared, declared.accumulate, sum);
}

namespace {

/// A NaN wins.
template <class T>
T largest_of(T a, T b) {
  return std::isnan(a) || a > b ? a : b;
}

}  // namespace

Expected norm_part(const Declared& declared, const Case& c, const ExpectedTensors& pieces) {
  if (pieces.empty()) return scalar(0);
  return hands_over_squares(c) ? squares_of(declared, pieces) : norm(declared, c.recipe.clip, pieces);
}

Expected norm_of_parts(const Declared& declared, const Case& c, const PartsByStage<Expected>& parts) {
  const Arithmetic in = single(declared);
  const NormOrder order = norm_of(c.recipe.clip);
  const bool squares = order == NormOrder::two && !hands_over_squares(c);
  const auto term = [&](const Expected& part) {
    const Bounded p = bounded_scalar(declared, part);
    return squares ? in.mul(p, p) : p;
  };
  const auto joined = [&](const Bounded& a, const Bounded& b) {
    return order == NormOrder::largest ? Bounded{largest_of(a.v, b.v), std::max(a.e, b.e)} : in.add(a, b);
  };
  std::optional<Bounded> all_stages;
  long double exact = 0;
  for (const std::vector<Expected>& ranks : parts) {
    std::optional<Bounded> stage;
    for (const Expected& part : ranks) {
      const long double p = part.v(0, 0);
      exact = order == NormOrder::largest ? largest_of(exact, p) : exact + (squares ? p * p : p);
      stage = stage ? joined(*stage, term(part)) : term(part);
    }
    all_stages = all_stages ? joined(*all_stages, *stage) : *stage;
  }
  Bounded all = *all_stages;
  if (order == NormOrder::two) all = in.sqrt(all), exact = std::sqrt(exact);
  return scalar(exact, all.e);
}

}  // namespace tally::oracle
