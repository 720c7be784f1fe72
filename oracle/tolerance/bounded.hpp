// The (v, e) algebra: every operation returns the exact value of the formula and a bound on what any legal evaluation
// of it in a format may return. A layer's rule reads like the kernel's line in kernels/arithmetic.md.
//
// Invariant: |subject - exact| <= e, where v is the exact value up to binary64 rounding and serves as a magnitude only.
// The factor `pays` (1 + 2^-26) on every unit roundoff pays for that rounding of v (2^-53 = u 2^-29 for fp32, once an
// operation) and for the long double value that the comparison uses (2^-64 of the same magnitudes, once an operation).
// The factor `inflation` pays for the rounding of the bound's own arithmetic: its terms are non-negative, so relative
// errors do not grow, and 4096 additions cost less than 2^-40.
//
// Beyond the finite: {+-inf or NaN, 0} is a value that is non-finite for certain, {v, inf} one that is undecided (it
// may or may not overflow, or a divisor may be zero). The subject may then hold NaN, so no function decides it again,
// however small its range is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/tolerance/format.hpp"

namespace tally::oracle {

struct Bounded {
  double v = 0, e = 0;
};

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double inflation = 1 + 0x1p-40;
inline constexpr double pays = 1 + 0x1p-26;

/// (1+u)^h - 1: what h roundings in a row can do, for every h and u.
inline double gam(double h, double u) { return std::expm1(h * std::log1p(u)); }

inline bool decided(Bounded x) { return x.e < infinite; }

/// Infinity times what may be 0 may be NaN or an infinity of either sign.
inline bool infinity_meets_zero(Bounded x, Bounded y) {
  const auto may_be_zero = [](Bounded b) { return b.e > 0 && !(std::fabs(b.v) > b.e); };
  return (std::isinf(x.v) && may_be_zero(y)) || (std::isinf(y.v) && may_be_zero(x));
}

/// Addends of a sum, gathered before it is known in which order they are added.
struct Addends {
  double v = 0, e = 0, magnitude = 0, count = 0;
  double finite = 0;  // the magnitude of the finite ones: beside an infinity they may overflow to the other one
  void add(Bounded x) {
    if (std::isfinite(x.v)) finite += std::fabs(x.v) + x.e;
    v += x.v;
    e += x.e;
    magnitude += std::fabs(x.v) + x.e;
    count += 1;
  }
};

/// Arithmetic that rounds to nearest even in one format.
class Arithmetic {
 public:
  explicit Arithmetic(const Format& format)
      : u_(format.unit_roundoff() * pays),
        underflow_(format.underflow()),
        threshold_(format.overflow_threshold()),
        smallest_normal_(std::ldexp(1, format.emin)),
        flushes_(format.flushes_subnormals),
        significand_(format.p) {}

  double u() const { return u_; }
  double underflow() const { return underflow_; }
  double threshold() const { return threshold_; }

  /// A subnormal sum is exact, unless it is flushed.
  Bounded add(Bounded x, Bounded y) const { return finish(x.v + y.v, x.e + y.e, 1, flushes_ ? underflow_ : 0, x, y); }
  Bounded sub(Bounded x, Bounded y) const { return add(x, {-y.v, y.e}); }

  /// Multiplying by a power of two rounds only where it underflows.
  Bounded mul(Bounded x, Bounded y) const {
    if (infinity_meets_zero(x, y)) return {x.v * y.v, infinite};
    const double passed_on = std::fabs(x.v) * y.e + std::fabs(y.v) * x.e + x.e * y.e;
    const double roundings = is_power_of_two(x) || is_power_of_two(y) ? 0 : 1;
    return finish(x.v * y.v, passed_on, roundings, underflow_, x, y);
  }

  Bounded div(Bounded x, Bounded y) const {
    const double least = std::fabs(y.v) * (1 - 0x1p-50) - y.e;
    if (std::isfinite(y.v) && !(least > 0) && y.e > 0) return {x.v / y.v, infinite};
    const double passed_on = (std::fabs(x.v / y.v) * y.e + x.e) / least;
    return finish(x.v / y.v, passed_on, 1, underflow_, x, y);
  }

  Bounded sqrt(Bounded x) const {
    const double root = std::sqrt(x.v);
    const double low = root - std::sqrt(std::max(0.0, x.v - x.e));
    return finish(root, std::max(low, std::sqrt(x.v + x.e) - root) + root * 0x1p-51, 1, 0, x, x);
  }

  /// A monotone function whose kernel is within `ulps` ulp: (ulps + 1/2) ulp(f) <= (2 ulps + 2) u |f|, and
  /// (ulps + 1/2) times the smallest subnormal below the normal range.
  template <class F>
  Bounded monotone(F&& f, Bounded x, double ulps) const {
    if (!decided(x)) return {f(x.v), infinite};
    const double value = f(x.v);
    const double spread = x.e == 0 ? 0 : std::max(std::fabs(f(x.v + x.e) - value), std::fabs(f(x.v - x.e) - value));
    return finish(value, spread, 2 * ulps + 2, (2 * ulps + 1) * underflow_, x, x);
  }

  /// The sum in any order in which no addend passes through more than `height` additions; 0: undeclared, n - 1.
  Bounded sum(const Addends& terms, double height = 0) const {
    const double serial = std::max(terms.count - 1, 0.0);
    const double growth = gam(height > 0 ? std::min(height, serial) : serial, u_);
    if (!std::isfinite(terms.v)) {
      return {terms.v, terms.e < infinite && terms.finite * (1 + growth) < threshold_ ? 0 : infinite};
    }
    const double flushed = flushes_ ? terms.count * underflow_ : 0;
    const double e = (terms.e + growth * terms.magnitude + flushed) * inflation;
    return {terms.v, terms.magnitude * (1 + growth) < threshold_ ? e : infinite};
  }

  /// One more rounding, into this format, of a value computed in fp32 (so nothing for fp32).
  Bounded store(Bounded x) const { return significand_ == 24 ? x : finish(x.v, x.e, 1, underflow_, x, x); }

 private:
  static bool is_power_of_two(Bounded x) {
    int exponent = 0;
    return x.e == 0 && std::fabs(std::frexp(x.v, &exponent)) == 0.5;
  }

  /// The rounding of an exact result in v +- passed_on; underflow and relative rounding exclude each other.
  Bounded finish(double v, double passed_on, double roundings, double underflow, Bounded x, Bounded y) const {
    if (!std::isfinite(v)) return {v, decided(x) && decided(y) ? 0 : infinite};
    const bool normal = std::fabs(v) - passed_on >= smallest_normal_ * 2;
    const double rounding = std::max(roundings * u_ * (std::fabs(v) + passed_on), normal ? 0 : underflow);
    const double e = v == 0 && passed_on == 0 && roundings <= 1 ? 0 : (passed_on + rounding) * inflation;
    if (std::fabs(v) + e < threshold_) return {v, e};
    if (std::fabs(v) - e >= threshold_) return {std::copysign(infinite, v), 0};
    return {v, infinite};
  }

  double u_, underflow_, threshold_, smallest_normal_;
  bool flushes_;
  int significand_;
};

}  // namespace tally::oracle
