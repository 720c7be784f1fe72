// Lion: (lion.1), which is fl(p - lr), p or fl(p + lr) by the sign, and (lion.2), by the operations of
// kernels/arithmetic.md.
#include "oracle/recipe/lion_bound.hpp"

#include "oracle/recipe/begun_at_zero.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle {
namespace {

/// What (lion.1) takes the sign of, with beta2 for beta what (lion.2) leaves: fl(fl(beta m) + fl((1 - beta) g)).
class Interpolation {
 public:
  Interpolation(const Declared& declared, const Decimal& beta)
      : kept_(constant(beta)), taken_(one_minus(declared, beta)) {}
  Bounded of(Bounded g, Bounded m) const { return fp32_.add(fp32_.mul(kept_, m), fp32_.mul(taken_, g)); }

 private:
  const Arithmetic fp32_ = single();
  Bounded kept_, taken_;
};

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/// Of a number that is known within a bound. The exact sign is that of v; an error of 2 covers every other, and where v
/// itself may have been rounded to 0 the exact sign is open too.
Bounded sign_of(Bounded c) {
  if (!std::isfinite(c.v)) return {std::isnan(c.v) ? c.v : sign_of(c.v), decided(c) ? 0 : infinite};
  if (!decided(c)) return {sign_of(c.v), infinite};  // the subject may hold NaN
  return {sign_of(c.v), std::fabs(c.v) > c.e ? 0.0 : c.v == 0 && c.e == 0 ? 0.0 : 2.0};
}

}  // namespace

Expected lion_momentum(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                       const Expected& old) {
  const Arithmetic master(declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Interpolation next(declared, optimizer.number("beta2"));
  const auto beta = number<long double>(optimizer.number("beta2"));
  return joined([&]() -> Matrix<long double> { return beta * before.v + (1 - beta) * gradient.v; },
                each([&](Bounded g, Bounded m) { return master.store(next.of(g, m)); }, gradient, before));
}

Expected lion_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                        const Expected& gradient, const Expected& old, const Expected& parameter) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Interpolation direction(declared, optimizer.number("beta1"));
  const Bounded lr = bounded_scalar(rate);
  const auto beta = number<long double>(optimizer.number("beta1"));
  const auto exact = [&]() -> Matrix<long double> {
    const Matrix<long double> c = beta * before.v + (1 - beta) * gradient.v;
    return parameter.v - rate.v(0, 0) * c.unaryExpr([](long double x) -> long double {
      return x > 0 ? 1 : x < 0 ? -1 : x;
    });
  };
  const auto moved = [&](Bounded p, Bounded g, Bounded m) {
    const Bounded sign = sign_of(direction.of(g, m));
    return master.store(fp32.sub(p, fp32.mul(lr, sign)));
  };
  return joined(exact, each(moved, parameter, gradient, before));
}

}  // namespace tally::oracle
