#include "oracle/window/bound_stages.hpp"

#include "oracle/case/kinds.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle {
namespace {

Bounded as_bounded_store(const Format& to, Bounded x) { return Arithmetic(to).store(x); }

}  // namespace

Expected scalar(long double v, double e) {
  Expected x{Matrix<long double>(1, 1), Matrix<double>(1, 1)};
  x.v(0, 0) = v;
  x.e(0, 0) = e;
  return x;
}

Expected cast(const Format& to, const Expected& x) {
  return joined(x.v, each([&](Bounded a) { return as_bounded_store(to, a); }, x));
}

Expected scaled(const Expected& x, const Expected& factor) {
  const Arithmetic fp32 = single();
  const Bounded by = bounded_scalar(factor);
  return joined([&] { return x.v * factor.v(0, 0); }, each([&](Bounded a) { return fp32.mul(a, by); }, x));
}

Expected decayed(const Declared& declared, const Choice& decay, const StepRate& rate, const Expected& gradient,
                 const Expected& parameter) {
  return decay_rules(decay).decayed(declared, decay, rate, gradient, parameter);
}

namespace {

/// (running_statistics.1), or with the correction n / (n - 1) (running_statistics.2), stored.
BoundedMatrix moved(const Declared& declared, const Layer& layer, const Expected& running, const Expected& batch,
                    Bounded correction) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Decimal& momentum = layer.number("momentum");
  const Bounded keep = one_minus(declared, momentum), take = constant(momentum);
  return each(
      [&](Bounded r, Bounded value) {
        const Bounded sum = fp32.add(fp32.mul(keep, r), fp32.mul(take, fp32.mul(value, correction)));
        return master.store(sum);
      },
      running, batch);
}

}  // namespace

Expected running_mean(const Declared& declared, const Layer& layer, const Expected& running, const Expected& mean) {
  return joined(running_mean<long double>(layer, running.v, mean.v), moved(declared, layer, running, mean, {1, 0}));
}

Expected running_var(const Declared& declared, const Layer& layer, const Expected& running, const Expected& biased_var,
                     std::int64_t rows) {
  const auto n = static_cast<double>(rows);
  const long double exact = static_cast<long double>(n) / static_cast<long double>(n - 1);
  const Bounded correction = derived_constant(declared, exact, single().div({n, 0}, {n - 1, 0}));
  return joined(running_var<long double>(layer, running.v, biased_var.v, rows),
                moved(declared, layer, running, biased_var, correction));
}

ExpectedScale first_scale(const Choice& loss_scale) {
  const Decimal* written = written_scale(loss_scale);
  const auto exact = initial_scale<long double>(loss_scale);
  return {scalar(exact.scale, written == nullptr ? 0 : constant(*written).e), exact.growth_counter};
}

ExpectedScale scale_after(const Choice& loss_scale, const ExpectedScale& now, bool found_non_finite) {
  return checks_overflow(loss_scale) ? scale_rules(loss_scale).after(loss_scale, now, found_non_finite) : now;
}

}  // namespace tally::oracle
