#include "oracle/window/bound_stages.hpp"

#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle {
namespace {

Bounded as_bounded_store(const Format& to, Bounded x) { return Arithmetic(to).store(x); }

bool by_window(const Declared& subject) { return subject.claims.divide == "window"; }

/// The window's share of the divisor: N, K, or 1. 0 where N is.
long double window_divisor(const Case& c, std::size_t window) {
  switch (c.normalisation) {
    case Normalisation::window_items:
      return divisor<long double>(c, window, 0);
    case Normalisation::mean_of_means:
      return static_cast<long double>(c.windows[window].size());
    case Normalisation::mean_of_means_configured:
      return static_cast<long double>(c.windows[0].size());
    case Normalisation::sum:
      break;
  }
  return 1;
}

/// scale / by in binary64, rounded once; a scale with a bound of its own passes it on.
Expected quotient(Bounded over, long double exact_over, long double by) {
  if (by == 0) return scalar(0);
  const long double exact = exact_over / by;
  const Bounded rounded = constant(exact);
  return scalar(exact, over.e == 0 ? rounded.e : (over.e / static_cast<double>(by) + rounded.e) * (1 + 0x1p-23));
}

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

Expected factor(const Declared& subject, const Case& c, std::size_t window, std::size_t micro_batch,
                const Expected& scale) {
  long double by = divisor<long double>(c, window, micro_batch);
  const long double whole = window_divisor(c, window);
  if (by_window(subject) && whole != 0) by /= whole;
  return quotient(bounded_scalar(scale), scale.v(0, 0), by);
}

Expected inverse_scale(const Declared& subject, const Case& c, std::size_t window, const Expected& scale) {
  const long double whole = by_window(subject) ? window_divisor(c, window) : 1;
  const Bounded s = bounded_scalar(scale);
  const long double exact = whole == 0 ? 0 : 1 / (scale.v(0, 0) * whole);
  const double relative = s.e == 0 ? 0 : s.e / (std::fabs(s.v) - s.e);
  const Bounded rounded = constant(exact);
  return scalar(exact, rounded.e + relative * (std::fabs(rounded.v) + rounded.e) * (1 + 0x1p-23));
}

Expected l2_gradient(const Choice& decay, const Expected& gradient, const Expected& parameter) {
  const Arithmetic fp32 = single();
  const Format fp32_format = format_of(Dtype::fp32);
  const Bounded lambda = constant(decay.number("lambda"));
  return joined(
      [&] { return decayed_gradient<long double>(decay, gradient.v, parameter.v); },
      each([&](Bounded g, Bounded p) { return barely_moved(fp32_format, g, fp32.add(g, fp32.mul(lambda, p))); },
           gradient, parameter));
}

Expected decoupled_parameter(const Declared& subject, const Choice& decay, long double rate,
                             const Expected& parameter) {
  const Arithmetic fp32 = single(), master(subject.master);
  const auto lambda = number<long double>(decay.number("lambda"));
  const Bounded product = fp32.mul(constant(rate), constant(decay.number("lambda")));
  const Bounded kept =
      derived_constant(subject, 1 - rate * lambda, fp32.sub({1, 0}, product), (1 + rate * lambda) * 0x1p-51L);
  return joined(
      [&] { return decayed_parameter<long double>(decay, rate, parameter.v); },
      each([&](Bounded p) { return barely_moved(subject.master, p, master.store(fp32.mul(p, kept))); }, parameter));
}

namespace {

/// fl(fl(fl(1 - m) r) + fl(fl(m) value)), stored.
BoundedMatrix moved(const Declared& subject, const Layer& layer, const Expected& running, const Expected& batch,
                    Bounded correction) {
  const Arithmetic fp32 = single(), master(subject.master);
  const Decimal& momentum = layer.number("momentum");
  const Bounded keep = one_minus(subject, momentum), take = constant(momentum);
  return each(
      [&](Bounded r, Bounded value) {
        const Bounded sum = fp32.add(fp32.mul(keep, r), fp32.mul(take, fp32.mul(value, correction)));
        return barely_moved(subject.master, r, master.store(sum));
      },
      running, batch);
}

}  // namespace

Expected running_mean(const Declared& subject, const Layer& layer, const Expected& running, const Expected& mean) {
  return joined(running_mean<long double>(layer, running.v, mean.v), moved(subject, layer, running, mean, {1, 0}));
}

Expected running_var(const Declared& subject, const Layer& layer, const Expected& running, const Expected& biased_var,
                     std::int64_t rows) {
  const auto n = static_cast<double>(rows);
  const long double exact = static_cast<long double>(n) / static_cast<long double>(n - 1);
  const Bounded correction = derived_constant(subject, exact, single().div({n, 0}, {n - 1, 0}));
  return joined(running_var<long double>(layer, running.v, biased_var.v, rows),
                moved(subject, layer, running, biased_var, correction));
}

Expected rate(const Declared& subject, const Choice& schedule, std::int64_t step) {
  const auto exact = learning_rate<long double>(schedule, step);
  const auto base = std::fabs(number<long double>(schedule.number("base")));
  // A cosine near its end cancels against the base; a power base factor^n is off by n relative roundings.
  const long double margin = base * 0x1p-49L + std::fabs(exact) * static_cast<long double>(step + 4) * 0x1p-52L;
  Bounded held = constant(exact, margin);
  if (subject.claims.constants != "binary64") {
    held.e += 8 * single().u() * static_cast<double>(base);  // the same formula in fp32: at most 8 roundings of <= base
  }
  return scalar(exact, held.e);
}

ExpectedScale first_scale(const Choice& loss_scale) {
  if (loss_scale.kind == "none") return {scalar(1), 0};
  const bool dynamic = loss_scale.kind == "dynamic";
  const Bounded held = constant(loss_scale.number(dynamic ? "initial" : "scale"));
  const auto exact = initial_scale<long double>(loss_scale);
  return {scalar(exact.scale, held.e), exact.growth_counter};
}

ExpectedScale scale_after(const Choice& loss_scale, const ExpectedScale& now, bool found_non_finite) {
  const Scale<long double> before{now.scale.v(0, 0), now.growth_counter};
  const auto exact = next_scale<long double>(loss_scale, before, found_non_finite);
  if (loss_scale.kind != "dynamic" || exact.scale == before.scale) return {now.scale, exact.growth_counter};
  const Decimal& by = loss_scale.number(found_non_finite ? "backoff_factor" : "growth_factor");
  return {scalar(exact.scale, single().mul(bounded_scalar(now.scale), constant(by)).e), exact.growth_counter};
}

}  // namespace tally::oracle
