// After a window; it is clean where no element of its buffers was found to be infinite or NaN.
// (dynamic_loss_scale.1)  scale <- scale · backoff_factor, counter <- 0  where it was not clean
// (dynamic_loss_scale.2)  scale <- scale · growth_factor, counter <- 0  at the growth_interval-th clean window
// (dynamic_loss_scale.3)  counter <- counter + 1  after any other
#include "oracle/recipe/register_exact_recipe.hpp"

namespace tally::oracle::dynamic_loss_scale_exact {
namespace {

template <class T>
Scale<T> next(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite) {
  if (found_non_finite) return {T(now.scale * number<T>(loss_scale.number("backoff_factor"))), 0};
  if (now.growth_counter + 1 < loss_scale.integer("growth_interval")) return {now.scale, now.growth_counter + 1};
  return {T(now.scale * number<T>(loss_scale.number("growth_factor"))), 0};
}

const RegisterExactScale registered("dynamic", []<class T>(Scalar<T>) -> ExactScale<T> { return next<T>; });

}  // namespace
}  // namespace tally::oracle::dynamic_loss_scale_exact
