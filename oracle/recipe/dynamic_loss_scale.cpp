// After a window; it is clean where no element of its buffers was found to be infinite or NaN.
// (dynamic_loss_scale.1)  scale <- scale · backoff_factor, counter <- 0  where it was not clean
// (dynamic_loss_scale.2)  scale <- scale · growth_factor, counter <- 0  at the growth_interval-th clean window
// (dynamic_loss_scale.3)  counter <- counter + 1  after any other
// The scale after (dynamic_loss_scale.1) or (dynamic_loss_scale.2) is one product, after (dynamic_loss_scale.3) as it
// was.
#include "oracle/case/contract.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/register_kind.hpp"
#include "oracle/tolerance/elementwise.hpp"

namespace tally::oracle::dynamic_loss_scale_kind {
namespace {

template <class T>
Scale<T> next(const Choice& loss_scale, const Scale<T>& now, bool found_non_finite) {
  if (found_non_finite) return {T(now.scale * number<T>(loss_scale.number("backoff_factor"))), 0};
  if (now.growth_counter + 1 < loss_scale.integer("growth_interval")) return {now.scale, now.growth_counter + 1};
  return {T(now.scale * number<T>(loss_scale.number("growth_factor"))), 0};
}

const Contract contract{
    .kind = "dynamic",
    .options =
        {{.name = "initial", .type = OptionType::number, .standard = std::nullopt, .range = {.above = "0"}},
         {.name = "growth_factor", .type = OptionType::number, .standard = Decimal{"2"}, .range = {.above = "1"}},
         {.name = "backoff_factor",
          .type = OptionType::number,
          .standard = Decimal{"0.5"},
          .range = {.above = "0", .below = "1"}},
         {.name = "growth_interval",
          .type = OptionType::integer,
          .standard = std::int64_t{2000},
          .range = {.at_least = "1"}},
         {.name = "growth_counter",
          .type = OptionType::integer,
          .standard = std::int64_t{0},
          .range = {.at_least = "0"}}},
    .first_scale = "initial",
    .checks_overflow = true,
    // A counter at the interval would already have returned to 0, and one beyond it never reaches it.
    .misfits = [](const Choice& scale) -> std::vector<Misfit> {
      if (scale.integer("growth_counter") < scale.integer("growth_interval")) return {};
      return {{"growth_counter", std::to_string(scale.integer("growth_counter")),
               "less than growth_interval, " + std::to_string(scale.integer("growth_interval"))}};
    },
    .definition = "skips a window whose buffer is not finite and backs off; grows after clean windows"};

ExpectedScale after(const Declared& declared, const Choice& loss_scale, const ExpectedScale& now,
                    bool found_non_finite) {
  const Scale<long double> before{now.scale.v(0, 0), now.growth_counter};
  const auto exact = next_scale<long double>(loss_scale, before, found_non_finite);
  if (exact.scale == before.scale) return {now.scale, exact.growth_counter};
  const Decimal& by = loss_scale.number(found_non_finite ? "backoff_factor" : "growth_factor");
  const Bounded next = single(declared).mul(bounded_scalar(declared, now.scale), constant(by));
  return {scalar(std::isfinite(next.v) ? exact.scale : next.v, next.e), exact.growth_counter};
}

const Register<LossScaleDefinition> registered{
    {contract, []<class T>(Scalar<T>) -> ExactScale<T> { return next<T>; }, {after}}};

}  // namespace
}  // namespace tally::oracle::dynamic_loss_scale_kind
