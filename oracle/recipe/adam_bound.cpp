#include "oracle/recipe/adam_bound.hpp"

#include "oracle/recipe/begun_at_zero.hpp"
#include "oracle/recipe/either_product.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle {
namespace {

/// The exact step's: of the whole update only those are taken.
std::vector<Matrix<long double>> moments(const Choice& optimizer, const Expected& gradient,
                                         const Slot<long double>& old) {
  return updated<long double>(optimizer, 0, 0, gradient.v, old).state;
}

struct Corrections {
  long double first, second;     // 1 - beta^(t+1)
  Bounded rate, root_of_second;  // fl(lr / bc1), fl(sqrt bc2)
};

Corrections corrections(const Declared& declared, const Choice& optimizer, const StepRate& rate, std::int64_t step) {
  const auto times = static_cast<long double>(step) + 1;
  const Complement first = complement_of_power(optimizer.number("beta1"), times),
                   second = complement_of_power(optimizer.number("beta2"), times);
  Corrections c{first.value, second.value, {}, {}};
  const Arithmetic fp32 = single();
  // In fp32 the power carries t + 1 roundings and beta's own t + 1 times over.
  const auto in_fp32 = [&](long double p) {
    const auto value = static_cast<double>(p);
    return fp32.sub({1, 0}, {value, gam(2.0 * static_cast<double>(step + 1) + 8, fp32.u()) * value});
  };
  const long double corrected = rate.exact / c.first, root = std::sqrt(c.second);
  const long double off = of_inverse(first.relative);
  const long double margin = off < infinite ? std::fabs(corrected) * off + rate.margin / c.first * (1 + off) : infinite;
  c.rate = derived_constant(declared, corrected, fp32.div(held_rate(declared, rate), in_fp32(1 - c.first)), margin);
  c.root_of_second = derived_constant(declared, root, fp32.sqrt(in_fp32(1 - c.second)), root * second.relative);
  return c;
}

/// |m^| / sqrt v^ for moments that began at zero: Cauchy-Schwarz over the gradients so far.
double largest_ratio(const Choice& optimizer, const Corrections& c, std::int64_t step) {
  const auto beta1 = number<long double>(optimizer.number("beta1")),
             beta2 = number<long double>(optimizer.number("beta2"));
  // A beta2 that fp32 does not hold to its last place keeps less of the old squares than is counted here.
  const Bounded held = constant(optimizer.number("beta2"));
  if (beta2 == 0 || held.e > 0x1p-24 * held.v) return infinite;
  const long double q = beta1 * beta1 / beta2;
  long double sum = 0, term = 1;
  for (std::int64_t j = 0; j <= step && j < 100000; ++j, term *= q) sum += term;
  if (step >= 100000) return infinite;
  return static_cast<double>((1 - beta1) / c.first * std::sqrt(c.second / (1 - beta2)) * std::sqrt(sum));
}

bool is_positive(Bounded x) { return x.v - x.e > 0; }

/// How far a constant may be off, relative to itself.
double relative(Bounded c) { return c.v == 0 ? 0 : c.e / std::fabs(c.v); }

/// No step from zero moments is longer, and none lies further from the exact one than two such steps: the subject's own
/// carries 6t + 16 roundings, what its constants are off, and what underflows. Its second moment may have lost 3 eta a
/// step (the square, its share, the decay) and its first 2 eta, so that beside the ratio times sqrt v^ there is the
/// ratio times sqrt(3 t eta / bc2) and 2 t eta / bc1, each over epsilon.
double longest_step(const Declared& declared, const Choice& optimizer, const Corrections& c, const StepRate& rate,
                    std::int64_t step, double least_divisor) {
  const double ratio = largest_ratio(optimizer, c, step), eta = single().underflow();
  if (!(ratio < infinite) || !(least_divisor > 0) || !decided(c.rate) || !is_positive(c.root_of_second))
    return infinite;
  const auto t = static_cast<double>(step + 1);
  const double lost =
      (ratio * std::sqrt(3 * t * eta / static_cast<double>(c.second)) + 2 * t * eta / static_cast<double>(c.first)) /
      least_divisor;
  const double off = relative(c.rate) + relative(c.root_of_second) +
                     relative(one_minus(declared, optimizer.number("beta1"))) +
                     relative(one_minus(declared, optimizer.number("beta2")));
  const double grown = (1 + gam(6 * t + 16, single().u())) * std::exp(2 * off);
  // The rate takes no part in the quotient: it may overflow where the step would not.
  if (!((ratio + lost) * grown * inflation < single().threshold())) return infinite;
  return (std::fabs(static_cast<double>(rate.exact)) * (ratio + (ratio + lost) * grown) +
          2 * eta * (1 + std::fabs(c.rate.v))) *
         inflation;
}

}  // namespace

namespace {

/// m moved towards g by a share w, fl(m + fl(w d)) below w = 1/2 and fl(g - fl(fl(1 - w) d)) from there on, d = fl(g -
/// m), as libraries interpolate.
Bounded interpolated(Bounded m, Bounded g, Bounded w) {
  const Arithmetic fp32 = single();
  const Bounded distance = fp32.sub(g, m);
  if (w.v + w.e < 0.5) return fp32.add(m, fp32.mul(w, distance));
  const Bounded from_the_end = fp32.sub(g, fp32.mul(fp32.sub({1, 0}, w), distance));
  if (w.v - w.e >= 0.5) return from_the_end;
  const Bounded either = fp32.add(m, fp32.mul(w, distance));
  return {from_the_end.v, std::max(from_the_end.e, std::fabs(either.v - from_the_end.v) + either.e)};
}

}  // namespace

Expected adam_exp_avg(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                      const Expected& old) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded beta = constant(optimizer.number("beta1")), rest = one_minus(declared, optimizer.number("beta1"));
  const Slot<long double> slot{zeros_like(gradient).v, {before.v, zeros_like(gradient).v}};
  const bool interpolates = claim_of(declared, "adam").algorithm == "interpolated";
  const auto moved = [&](Bounded g, Bounded m) {
    return interpolates ? interpolated(m, g, rest) : fp32.add(fp32.mul(beta, m), fp32.mul(rest, g));
  };
  return joined([&] { return moments(optimizer, gradient, slot)[0]; },
                each([&](Bounded g, Bounded m) { return master.store(moved(g, m)); }, gradient, before));
}

Expected adam_exp_avg_sq(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                         const Expected& old) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded beta = constant(optimizer.number("beta2")), rest = one_minus(declared, optimizer.number("beta2"));
  const Slot<long double> slot{zeros_like(gradient).v, {zeros_like(gradient).v, before.v}};
  return joined(
      [&] { return moments(optimizer, gradient, slot)[1]; },
      each([&](Bounded g,
               Bounded v) { return master.store(fp32.add(fp32.mul(beta, v), fp32.mul(rest, fp32.mul(g, g)))); },
           gradient, before));
}

Expected adam_parameter(const Declared& declared, const Choice& optimizer, const StepRate& rate, std::int64_t step,
                        const Expected& exp_avg, const Expected& exp_avg_sq, const Expected& parameter,
                        bool from_zero) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Corrections c = corrections(declared, optimizer, rate, step);
  const Bounded eps = constant(optimizer.number("eps"));
  const auto exact_eps = number<long double>(optimizer.number("eps"));
  const auto exact = [&]() -> Matrix<long double> {
    const auto root = (exp_avg_sq.v.array() / c.second).max(0).sqrt() + exact_eps;
    return parameter.v.array() - rate.exact / c.first * exp_avg.v.array() / root;
  };
  // The subject's divisor is at least its epsilon: the interval of v may reach 0 without the quotient losing its bound.
  const double least_divisor = std::max(0.0, eps.v - eps.e) * (1 - gam(4, fp32.u()));
  // In a narrower format moments are rounded by more than the cap counts.
  const bool capped = from_zero && declared.master.p == 24;
  const double cap = capped ? longest_step(declared, optimizer, c, rate, step, least_divisor) : infinite;
  const bool as_written = claim_of(declared, "adam").as_written;
  const auto step_of = [&](Bounded p, Bounded m, Bounded v) {
    const Bounded divisor = fp32.add(fp32.div(fp32.sqrt({std::max(v.v, 0.0), v.e}), c.root_of_second), eps);
    const double least = std::max(divisor.v - divisor.e, least_divisor);
    Bounded quotient = fp32.div(m, divisor);
    if (!decided(quotient) && decided(m) && decided(v) && is_positive(c.root_of_second)) {
      const double middle = m.v / divisor.v;
      const double off = (std::fabs(m.v) + m.e) / least * (1 + gam(2, fp32.u())) + std::fabs(middle);
      if (std::fabs(middle) + off < fp32.threshold()) quotient = {middle, off};
    }
    Bounded move = fp32.mul(c.rate, quotient);
    if (decided(m) && decided(v)) move = held_to(move, cap);
    if (!as_written) move = either_product(move, c.rate, m, least);
    return master.store(fp32.sub(p, move));
  };
  return joined(exact, each(step_of, parameter, exp_avg, exp_avg_sq));
}

}  // namespace tally::oracle
