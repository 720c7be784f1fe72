#include "oracle/window/rank_norm.hpp"

#include <algorithm>
#include <cmath>

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

Expected norm_of_parts(const Case& c, const std::vector<Expected>& parts) {
  const Arithmetic in = single();
  const NormOrder order = norm_of(c.recipe.clip);
  const bool squares = order == NormOrder::two && !hands_over_squares(c);
  const auto term = [&](const Expected& part) {
    const Bounded p = bounded_scalar(part);
    return squares ? in.mul(p, p) : p;
  };
  Bounded all = term(parts.front());
  long double exact = 0;
  for (const Expected& part : parts) {
    const long double p = part.v(0, 0);
    exact = order == NormOrder::largest ? largest_of(exact, p) : exact + (squares ? p * p : p);
  }
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    const Bounded next = term(parts[rank]);
    if (order == NormOrder::largest)
      all = Bounded{largest_of(all.v, next.v), std::max(all.e, next.e)};
    else
      all = in.add(all, next);
  }
  if (order == NormOrder::two) all = in.sqrt(all), exact = std::sqrt(exact);
  return scalar(exact, all.e);
}

}  // namespace tally::oracle
