// Element by element: recipe constants as a subject holds them, one formula for every element of several tensors, and
// rules of elementwise layers. Defined in expected.cpp.
#pragma once

#include <array>
#include <cmath>
#include <initializer_list>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/real/number.hpp"
#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

// Recipe constants as a subject holds them: the exact number, and how far its fp32 representative may be away.

/// A constant rounded once to fp32 after a derivation in binary64 that is off by at most `margin`. The bound is the
/// distance of the nearest fp32 itself, not u |c|, at either end of the margin: 0 for a constant that fp32 holds, where
/// the margin reaches no other. After a cancellation the long double value may be a float by chance, and the margin
/// wide.
Bounded constant(long double exact, long double margin);
/// The same with a margin of 2^-49 |exact|: a few roundings, none after a cancellation.
Bounded constant(long double exact);

/// A number written in the case, read as the nearest binary64 and rounded to fp32.
Bounded constant(const Decimal& written);

/// A derived constant under the subject's claim: `constants: binary64` rounds once; `fp32` computes it from rounded
/// constants, whose (v, e) the caller gives.
Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32, long double margin);
Bounded derived_constant(const Declared& declared, long double exact, Bounded in_fp32);

/// 1 / n for a count that fp32 holds.
Bounded reciprocal(const Declared& declared, double n);

/// 1 - beta^times, and how far a binary64 one may be from it, relatively: beta's own rounding `times` over, the power's
/// and the difference's. At 1 and beyond it may be 0.
struct Complement {
  long double value, relative;
};
Complement complement_of_power(const Decimal& beta, long double times);

/// How far 1 / x may be off, relatively, where x is off by `relative`: infinite where x may be 0.
long double of_inverse(long double relative);

/// 1 - c: the binary64 nearest to c may be off by 2^-53 where it is not c, and the difference rounds once more.
Bounded one_minus(const Declared& declared, const Decimal& c);

// What dropout multiplies by what it keeps.

/// 1 / (1 - p) of the layer, as the subject holds it.
inline Bounded kept_factor(const BoundPass& pass) {
  const Decimal& p = pass.layer.number("p");
  const Arithmetic fp32 = single(pass.declared);
  const Bounded in_fp32 = fp32.div({1, 0}, fp32.sub({1, 0}, constant(p)));
  const long double exact = 1 / (1 - number<long double>(p));
  return derived_constant(pass.declared, exact, in_fp32, exact * of_inverse(exact * 0x1p-51L));
}

// One formula for every element of several tensors of the same shape.

template <class F, class... More>
BoundedMatrix each(const Declared& declared, F&& f, const Expected& first, const More&... more) {
  BoundedMatrix out(first.v.rows(), first.v.cols());
  const auto read = [&](const Expected& x, Eigen::Index i) {
    const auto v = static_cast<double>(x.v.data()[i]);
    if (x.s.size() == 0) return Bounded{v, declared.incoming(x.e.data()[i])};
    return Bounded{v, declared.incoming(x.e.data()[i]), x.r.data()[i], x.s.data()[i]};
  };
  for (Eigen::Index i = 0; i < out.v.size(); ++i) {
    out.set(i, f(read(first, i), read(more, i)...));
  }
  return out;
}

inline Bounded bounded_scalar(const Declared& declared, const Expected& x) { return element(declared, x, 0, 0); }

// The error of erf where a GELU's kernel says nothing of itself. Vectorised libraries evaluate it by one formula, such as
// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26, for z >= 0 and odd,
//   erf z = 1 - (a1 t + ... + a5 t^5) e^(-z^2) + epsilon,  t = 1 / (1 + p z),  |epsilon| <= 1.5e-7,
// in fp32, whose error is absolute: near 0 no digit of erf need be right, as none of 1 + erf is lost. That others' formulas
// err no more is assumed: 1 + erf in the GELU of PyTorch 2.15 on a CPU was off by 7.2e-7 at most, where it was measured.

/// The largest absolute error, for the unit roundoff u. Term k is rounded 5 k + 7 times: t is off by three roundings, so
/// t^k by 3 k, Horner's scheme rounds it twice a step, its coefficient once, e^(-z^2) is within 2 ulp (four roundings) of
/// a rounded argument, which costs z^2 e^(-z^2) < 1 of one, and the product is rounded; the difference from 1 is, too.
/// At t = 1 and z = 0 everything is largest.
inline double approximated_erf(double u) {
  constexpr double by_the_formula = 1.5e-7;
  constexpr std::array<double, 5> a{0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
  double rounded = u;
  for (int k = 1; k <= 5; ++k)
    rounded += std::fabs(a[static_cast<std::size_t>(k - 1)]) * std::expm1((5 * k + 7) * std::log1p(u));
  return by_the_formula + rounded;
}

// Rules of elementwise layers: the formula in the (v, e) algebra, element by element, then one store.

/// fp32 with the functions of the kernel behind one direction of a layer.
class Elementary : public Arithmetic {
 public:
  Elementary(const BoundPass& pass, const char* direction)
      : Elementary(pass.declared, claim_of(pass.declared, kernel_family_of(pass.layer) + direction)) {}
  Elementary(const Declared& declared, const KernelClaim& claim)
      : Arithmetic(single(declared)),
        error_(functions_of(claim)),
        foreign_(claim.function_ulp == 0),
        least_error_of_erf_(claim.function_ulp > 0 || claim.algorithm == "erf" ? 0 : approximated_erf(u())) {}

  Bounded exp(Bounded x) const {
    return monotone([](double t) { return std::exp(t); }, x, error_);
  }
  Bounded tanh(Bounded x) const {
    return monotone([](double t) { return std::tanh(t); }, x, error_);
  }
  Bounded erf(Bounded x) const {
    Bounded y = monotone([](double t) { return std::erf(t); }, x, error_);
    y.e += of_functions(least_error_of_erf_);
    return y;
  }

  /// A product of these factors, by a kernel that may multiply them in any order where it says nothing of itself: what
  /// some of them come to underflows by eta, and the others multiply it.
  Bounded in_any_order(Bounded product, std::initializer_list<Bounded> factors) const {
    if (!foreign_) return product;
    double others = static_cast<double>(factors.size()) * underflow();
    for (const Bounded& factor : factors) others *= 1 + std::fabs(factor.v) + factor.e;
    product.e += others;
    return product;
  }

 private:
  FunctionError error_;
  bool foreign_;
  double least_error_of_erf_;  // absolute: of libraries that evaluate it by one polynomial over all numbers
};

/// y = f(x), stored. `f(fp32, x)` is the kernel's line.
template <class F>
ExpectedForward elementwise_forward(const BoundPass& pass, const Expected& x, F&& f) {
  const Elementary fp32(pass, ".forward");
  const Arithmetic storage(pass.declared, pass.declared.storage);
  const BoundedMatrix input(pass.declared, x);
  BoundedMatrix y(x.v.rows(), x.v.cols());
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (Eigen::Index j = 0; j < y.cols(); ++j) y.set(i, j, storage.store(f(fp32, input.at(i, j))));
  }
  return {joined(pass.declared, exact_forward(pass, x).y, y), {}, {}, {}};
}

/// dx = f(x, dy), stored.
template <class F>
ExpectedBackward elementwise_backward(const BoundPass& pass, const Expected& x, const Expected& dy, F&& f) {
  const Elementary fp32(pass, ".backward");
  const Arithmetic storage(pass.declared, pass.declared.storage);
  const BoundedMatrix input(pass.declared, x), gradient(pass.declared, dy);
  BoundedMatrix dx(x.v.rows(), x.v.cols());
  for (Eigen::Index i = 0; i < dx.rows(); ++i) {
    for (Eigen::Index j = 0; j < dx.cols(); ++j) {
      dx.set(i, j, storage.store(f(fp32, input.at(i, j), gradient.at(i, j))));
    }
  }
  return {joined(pass.declared, exact_backward(pass, x, dy).dx, dx), {}};
}

inline Bounded exp_of(const Elementary& fp32, Bounded x) { return fp32.exp(x); }
inline Bounded tanh_of(const Elementary& fp32, Bounded x) { return fp32.tanh(x); }
inline Bounded erf_of(const Elementary& fp32, Bounded x) { return fp32.erf(x); }

}  // namespace tally::oracle
