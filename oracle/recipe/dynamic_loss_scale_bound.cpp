// The scale after (dynamic_loss_scale.1) or (dynamic_loss_scale.2) is one product, after (dynamic_loss_scale.3) as it
// was.
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle::dynamic_loss_scale_bound {
namespace {

ExpectedScale after(const Choice& loss_scale, const ExpectedScale& now, bool found_non_finite) {
  const Scale<long double> before{now.scale.v(0, 0), now.growth_counter};
  const auto exact = next_scale<long double>(loss_scale, before, found_non_finite);
  if (exact.scale == before.scale) return {now.scale, exact.growth_counter};
  const Decimal& by = loss_scale.number(found_non_finite ? "backoff_factor" : "growth_factor");
  const Bounded next = single().mul(bounded_scalar(now.scale), constant(by));
  return {scalar(std::isfinite(next.v) ? exact.scale : next.v, next.e), exact.growth_counter};
}

const RegisterScaleRules registered("dynamic", {after});

}  // namespace
}  // namespace tally::oracle::dynamic_loss_scale_bound
