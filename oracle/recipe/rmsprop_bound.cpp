// RMSProp: (rmsprop.1), (rmsprop.2), (rmsprop.3) and (rmsprop.4) by the operations of kernels/arithmetic.md.
#include "oracle/recipe/rmsprop_bound.hpp"

#include "oracle/recipe/begun_at_zero.hpp"
#include "oracle/recipe/either_product.hpp"
#include "oracle/tolerance/constants.hpp"
#include "oracle/tolerance/each.hpp"

namespace tally::oracle {
namespace {

Matrix<long double> exact_quotient(const Choice& optimizer, const Expected& gradient, const Expected& square) {
  return gradient.v.array() / (square.v.array().max(0).sqrt() + number<long double>(optimizer.number("eps")));
}

/// (rmsprop.2). However near v's interval comes to 0: the subject's v holds (1 - a) g g of its own g, so that its
/// quotient is at most R (1 + gam(8)) (1 + sqrt(3 eta / (1 - a)) / eps) with R = 1 / sqrt(1 - a): four roundings of v
/// under a root, and g g, its share and the sum may each have underflowed. That and the size of the expected quotient is
/// the cap; it needs v as fp32 leaves it. The expected quotient may be larger than R where v is the subject's and g is
/// not.
class Quotient {
 public:
  Quotient(const Declared& declared, const Choice& optimizer) : eps_(constant(optimizer.number("eps"))) {
    least_divisor_ = std::max(0.0, eps_.v - eps_.e) * (1 - gam(2, fp32_.u()));
    const Bounded rest = one_minus(declared, optimizer.number("alpha"));
    const double least_rest = rest.v - rest.e;
    if (declared.master.p != 24 || !(least_rest > 0) || !(least_divisor_ > 0)) return;
    const double most = 1 / std::sqrt(least_rest);
    const double lost = std::sqrt(3 * fp32_.underflow() / least_rest) / least_divisor_;
    const double own = most * (1 + gam(8, fp32_.u())) * (1 + lost);
    if (own * inflation < fp32_.threshold()) own_ = own;
  }

  /// What the root of v and eps come to at least.
  double least(Bounded v) const {
    const Bounded divisor = divisor_of(v);
    return std::max(divisor.v - divisor.e, least_divisor_);
  }

  Bounded of(Bounded g, Bounded v) const {
    const Bounded divisor = divisor_of(v);
    const double least = std::max(divisor.v - divisor.e, least_divisor_);
    Bounded quotient = fp32_.div(g, divisor);
    if (!decided(quotient) && decided(g) && decided(v) && least > 0) {
      const double middle = g.v / divisor.v;
      const double off = (std::fabs(g.v) + g.e) / least * (1 + gam(2, fp32_.u())) + std::fabs(middle);
      if (std::fabs(middle) + off < fp32_.threshold()) quotient = {middle, off};
    }
    if (!decided(g) || !decided(v) || !(own_ < infinite)) return quotient;
    return held_to(quotient, (own_ + std::fabs(g.v / divisor.v)) * inflation);
  }

 private:
  Bounded divisor_of(Bounded v) const { return fp32_.add(fp32_.sqrt({std::max(v.v, 0.0), v.e}), eps_); }

  const Arithmetic fp32_ = single();
  Bounded eps_;
  double least_divisor_ = 0, own_ = infinite;
};

}  // namespace

Expected rmsprop_square(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& old) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded alpha = constant(optimizer.number("alpha")), rest = one_minus(declared, optimizer.number("alpha"));
  const auto exact = number<long double>(optimizer.number("alpha"));
  return joined(
      [&]() -> Matrix<long double> { return exact * before.v + (1 - exact) * gradient.v.cwiseProduct(gradient.v); },
      each([&](Bounded g,
               Bounded v) { return master.store(fp32.add(fp32.mul(alpha, v), fp32.mul(rest, fp32.mul(g, g)))); },
           gradient, before));
}

Expected rmsprop_buffer(const Declared& declared, const Choice& optimizer, const Expected& gradient,
                        const Expected& square, const Expected& old) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Expected& before = old.v.size() == 0 ? zeros_like(gradient) : old;
  const Bounded mu = constant(optimizer.number("momentum"));
  const Quotient quotient(declared, optimizer);
  return joined(
      [&]() -> Matrix<long double> {
        return number<long double>(optimizer.number("momentum")) * before.v +
               exact_quotient(optimizer, gradient, square);
      },
      each([&](Bounded g, Bounded v, Bounded b) { return master.store(fp32.add(fp32.mul(mu, b), quotient.of(g, v))); },
           gradient, square, before));
}

Expected rmsprop_parameter(const Declared& declared, const Choice& optimizer, const Expected& rate,
                           const Expected& gradient, const Expected& square, const Expected& buffer,
                           const Expected& parameter) {
  const Arithmetic fp32 = single(), master(declared.master);
  const Bounded lr = bounded_scalar(rate);
  const auto moved = [&](Bounded p, Bounded d) { return master.store(fp32.sub(p, fp32.mul(lr, d))); };
  if (buffer.v.size() != 0)
    return joined([&]() -> Matrix<long double> { return parameter.v - rate.v(0, 0) * buffer.v; },
                  each(moved, parameter, buffer));
  const Quotient quotient(declared, optimizer);
  const bool as_written = claim_of(declared, "rmsprop").as_written;
  const auto step_of = [&](Bounded p, Bounded g, Bounded v) {
    if (as_written) return moved(p, quotient.of(g, v));
    return master.store(fp32.sub(p, either_product(fp32.mul(lr, quotient.of(g, v)), lr, g, quotient.least(v))));
  };
  return joined(
      [&]() -> Matrix<long double> { return parameter.v - rate.v(0, 0) * exact_quotient(optimizer, gradient, square); },
      each(step_of, parameter, gradient, square));
}

}  // namespace tally::oracle
