#include "oracle/window/rank_norm.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/each.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle {
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

Expected norm_of_parts(const Case& c, const PartsByStage<Expected>& parts) {
  const Arithmetic in = single();
  const NormOrder order = norm_of(c.recipe.clip);
  const bool squares = order == NormOrder::two && !hands_over_squares(c);
  const auto term = [&](const Expected& part) {
    const Bounded p = bounded_scalar(part);
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
