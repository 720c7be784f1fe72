// The (v, e) algebra: every operation returns the exact value of the formula and a bound on what any legal evaluation
// of it in a format may return. A layer's rule reads like the kernel's line in kernels/arithmetic.md.
//
// Invariant: |subject - exact| <= e, where v is the exact value up to binary64 rounding and serves as a magnitude only.
// The factor `pays` (1 + 2^-26) on every unit roundoff pays for that rounding of v (2^-53 = u 2^-29 for fp32, once an
// operation) and for the long double value that the comparison uses (2^-64 of the same magnitudes, once an operation).
// The factor `inflation` pays for the rounding of the bound's own arithmetic: its terms are non-negative, so relative
// errors do not grow, and 4096 additions cost less than 2^-40.
//
// The random part: what is drawn anew for every element, the additions of a sum of differing addends, is at most r of
// e, and its variance proxy is s: each such rounding is a mean-zero variable within half an ulp, so sub-Gaussian with
// that half ulp's square (Hoeffding), given the roundings before it. Everything else is deterministic, e - r: one
// operation on two numbers is a function of them, and leans where one of them is shared (a constant, a grid and a
// step); so are own functions, statistics that elements share, and truncation. A bound that says nothing of it has r =
// s = 0. oracle/spread.md says what is concluded from it, and under which assumptions.
//
// Beyond the finite: {+-inf or NaN, 0} is a value that is non-finite for certain, {v, inf} one that is undecided (it
// may or may not overflow, or a divisor may be zero). The subject may then hold NaN, so no function decides it again,
// however small its range is.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "oracle/tolerance/declared.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/summation.hpp"

namespace tally::oracle {

struct Bounded {
  double v = 0, e = 0;
  double r = 0, s = 0;  // the random part: its share of e, its variance proxy
};

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double inflation = 1 + 0x1p-40;
inline constexpr double pays = 1 + 0x1p-26;

/// (1+u)^h - 1: what h roundings in a row can do, for every h and u.
inline double gam(double h, double u) { return std::expm1(h * std::log1p(u)); }

inline bool decided(Bounded x) { return x.e < infinite; }

/// A number that is computed in one of two ways, whichever: finite, infinite or NaN for certain only where both are.
inline Bounded wider(Bounded a, Bounded b) {
  if (std::isfinite(a.v) && std::isfinite(b.v)) return a.e >= b.e ? a : b;
  const bool same = a.v == b.v || (std::isnan(a.v) && std::isnan(b.v));
  if (same) return a.e >= b.e ? a : b;
  return {std::isfinite(a.v) ? a.v : b.v, infinite};
}

/// What several elements share is drawn once for all of them: not random for any one.
inline Bounded shared(Bounded x) { return {x.v, x.e}; }

/// e held to `most` by another argument: the deterministic part keeps its size.
inline Bounded held_to(Bounded x, double most) {
  if (!(most < x.e)) return x;
  return {x.v, most, std::max(0.0, most - (x.e - x.r)), x.s};
}

/// Infinity times what may be 0 may be NaN or an infinity of either sign.
inline bool infinity_meets_zero(Bounded x, Bounded y) {
  const auto may_be_zero = [](Bounded b) { return b.e > 0 && !(std::fabs(b.v) > b.e); };
  return (std::isinf(x.v) && may_be_zero(y)) || (std::isinf(y.v) && may_be_zero(x));
}

/// Addends of a sum, gathered before it is known in which order they are added.
struct Addends {
  double v = 0, e = 0, magnitude = 0, count = 0;
  double finite = 0;  // the magnitude of the finite ones: beside an infinity they may overflow to the other one
  double r = 0, s = 0;
  std::vector<double> each = {};   // where it is to be known which of them round alike
  bool keeps_sizes = false;        // for a sum whose order is declared
  std::vector<double> sizes = {};  // |v| + e of each, in the order in which they were gathered
  void add(Bounded x) {
    if (keeps_sizes) sizes.push_back(std::fabs(x.v) + x.e);
    if (std::isfinite(x.v)) finite += std::fabs(x.v) + x.e;
    v += x.v;
    e += x.e;
    r += x.r;
    s += x.s;
    magnitude += std::fabs(x.v) + x.e;
    count += 1;
  }
  void add_apart(Bounded x) {
    add(x);
    each.push_back(x.v);
  }
};

/// How far a kernel's function may err: in u of the exact value, and below the normal range in the format's underflow.
struct FunctionError {
  double relative, least;
};
/// A library's k ulp, counted from the nearest number and in the ulp of either binade: (k + 1/2) ulp <= (2 k + 2) u
/// |f|.
constexpr FunctionError documented(double ulps) { return {2 * ulps + 2, 2 * ulps + 1}; }
/// A claimed distance to the exact value, in the ulp of its own binade: k ulp(f) <= 2 k u |f|.
constexpr FunctionError claimed(double ulps) { return {2 * ulps, 2 * ulps}; }

/// Arithmetic that rounds to nearest even in one format.
class Arithmetic {
 public:
  Arithmetic(const Declared& declared, const Format& format)
      : u_(format.unit_roundoff() * pays),
        underflow_(format.underflow()),
        shares_(declared.asked.sources),
        spread_(declared.asked.spread),
        order_(declared.asked.order),
        threshold_(format.overflow_threshold()),
        smallest_normal_(std::ldexp(1, format.emin)),
        flushes_(format.flushes_subnormals),
        significand_(format.p),
        format_(format) {}

  double u() const { return shares_.accumulation * u_; }
  double underflow() const { return shares_.accumulation * underflow_; }
  double threshold() const { return threshold_; }
  /// The order in which sums are added up for real; nullptr: none.
  const TriedOrder* order() const { return order_; }
  /// An absolute error of operations in the compute format, or of functions, where that source is taken in.
  double accumulated(double error) const { return shares_.accumulation * error; }
  double of_functions(double error) const { return shares_.function * error; }

  /// A subnormal sum is exact, unless it is flushed.
  Bounded add(Bounded x, Bounded y) const {
    return finish({x.v + y.v, x.e + y.e, x.r + y.r, x.s + y.s}, shares_.accumulation, flushes_ ? underflow() : 0, x, y);
  }
  Bounded sub(Bounded x, Bounded y) const { return add(x, {-y.v, y.e, y.r, y.s}); }

  /// Multiplying by a power of two rounds only where it underflows.
  Bounded mul(Bounded x, Bounded y) const {
    if (infinity_meets_zero(x, y)) return {x.v * y.v, infinite};
    const double size_x = std::fabs(x.v), size_y = std::fabs(y.v);
    const double roundings = is_power_of_two(x) || is_power_of_two(y) ? 0 : shares_.accumulation;
    // A square's two factors move together.
    const bool square = x.v == y.v && x.s == y.s;
    const double s = (size_x * size_x * y.s + size_y * size_y * x.s) * (square ? 2 : 1);
    const Bounded exact{x.v * y.v, size_x * y.e + size_y * x.e + x.e * y.e, size_x * y.r + size_y * x.r, s};
    return finish(exact, roundings, underflow(), x, y);
  }

  Bounded div(Bounded x, Bounded y) const {
    const double least = std::fabs(y.v) * (1 - 0x1p-50) - y.e;
    if (std::isfinite(y.v) && !(least > 0) && y.e > 0) return {x.v / y.v, infinite};
    const double q = std::fabs(x.v / y.v);
    const Bounded exact{x.v / y.v, (q * y.e + x.e) / least, (q * y.r + x.r) / least,
                        (q * q * y.s + x.s) / (least * least)};
    return finish(exact, shares_.accumulation, underflow(), x, y);
  }

  Bounded sqrt(Bounded x) const {
    const double root = std::sqrt(x.v);
    const double low = root - std::sqrt(std::max(0.0, x.v - x.e));
    const double passed_on = std::max(low, std::sqrt(x.v + x.e) - root);
    return finish(moved(root, passed_on, shares_.accumulation * root * 0x1p-51, x), shares_.accumulation, 0, x, x);
  }

  double relative_error_of(FunctionError error) const { return shares_.function * error.relative * u_; }
  double least_error_of(FunctionError error) const { return shares_.function * error.least * underflow_; }

  /// A monotone function that errs so.
  template <class F>
  Bounded monotone(F&& f, Bounded x, FunctionError error) const {
    if (!decided(x)) return {f(x.v), infinite};
    const double value = f(x.v);
    const double spread = x.e == 0 ? 0 : std::max(std::fabs(f(x.v + x.e) - value), std::fabs(f(x.v - x.e) - value));
    return finish(moved(value, spread, 0, x), shares_.function * error.relative, least_error_of(error), x, x);
  }

  /// The sum in any order in which no addend passes through more than `height` additions; 0: undeclared, n - 1.
  Bounded sum(const Addends& terms, double height = 0) const {
    const double serial = std::max(terms.count - 1, 0.0);
    const double most = height > 0 ? std::min(height, serial) : serial;
    if (std::isfinite(terms.v)) return sum(terms, cost_of(most, u(), terms.magnitude));
    return {terms.v, terms.e < infinite && terms.finite * (1 + gam(most, u())) < threshold_ ? 0 : infinite};
  }

  /// The finite sum where its additions cost that.
  Bounded sum(const Addends& terms, const SumCost& cost) const {
    if (!std::isfinite(terms.v)) return sum(terms);
    const double relative = terms.magnitude > 0 ? cost.growth / terms.magnitude : 0;
    const double flushed = flushes_ ? terms.count * underflow() : 0;
    const double e = (terms.e + cost.growth + flushed) * inflation;
    const double bound = terms.magnitude * (1 + relative) < threshold_ ? e : infinite;
    if (terms.each.empty() || spread_ == Spread::none || swamps(relative / u_))
      return {terms.v, bound, terms.r, terms.s};
    const double together = spread_ == Spread::counted ? alike(terms.each, quarter_ulp(u_, terms.magnitude)) : 1;
    return {terms.v, bound, terms.r + cost.growth, terms.s + together * spread_of(cost, relative)};
  }

  /// So many additions in a row that a usual addend comes to a few ulps of the sum: it is then rounded by what it is,
  /// most often away, and the error leans along the sum.
  bool swamps(double height) const {
    constexpr double few = 4;
    return height * few * 2 * u_ >= 1;
  }

  /// The variance proxy of additions that cost this: half an ulp of every partial sum, which is at most u (1 +
  /// relative) of its size.
  double spread_of(const SumCost& cost, double relative) const {
    const double largest = u_ * (1 + relative);
    return largest * largest * cost.squares;
  }
  /// The variance proxy of a tree of that height over addends of this magnitude in all: each addend lies under at most
  /// `height` nodes, so their magnitudes squared sum up to at most height times the square of all.
  double spread_of_sum(double height, double growth, double magnitude) const {
    return spread_of({0, height * magnitude * magnitude}, growth);
  }

  /// One more rounding, into this format, of a value computed in fp32 (so nothing for fp32). Rounding is monotone: what
  /// lies within e of v is stored between the roundings of v - e and v + e, most often as one number.
  Bounded store(Bounded x) const {
    if (significand_ == 24) return x;
    const Bounded anywhere = finish(x, shares_.storage, shares_.storage * underflow_, x, x);
    if (shares_.storage != 1 || !std::isfinite(anywhere.v) || !decided(anywhere)) return anywhere;
    const double slack = std::fabs(x.v) * 0x1p-50 + x.e * 0x1p-26, reach = x.e + slack;  // of v itself
    const double low = x.v - rounded(format_, x.v - reach), high = rounded(format_, x.v + reach) - x.v;
    return held_to(anywhere, (std::max({x.e, std::fabs(low), std::fabs(high)}) + slack) * inflation);
  }

 private:
  static bool is_power_of_two(Bounded x) {
    constexpr std::uint64_t significand = (std::uint64_t{1} << 52) - 1;
    return x.e == 0 && std::isnormal(x.v) && (std::bit_cast<std::uint64_t>(x.v) & significand) == 0;
  }

  /// f(x) where x's error moves it by at most `passed_on`, the random part in proportion.
  static Bounded moved(double value, double passed_on, double more, Bounded x) {
    const double slope = x.e > 0 ? passed_on / x.e : 0;
    return {value, passed_on + more, slope * x.r, slope * slope * x.s};
  }

  /// The rounding of an exact result within `exact.e` of exact.v; underflow and relative rounding exclude each other.
  Bounded finish(Bounded exact, double roundings, double underflow, Bounded x, Bounded y) const {
    const double v = exact.v, passed_on = exact.e;
    if (!std::isfinite(v)) return {v, decided(x) && decided(y) ? 0 : infinite};
    const bool normal = std::fabs(v) - passed_on >= smallest_normal_ * 2;
    const double rounding = std::max(roundings * u_ * (std::fabs(v) + passed_on), normal ? 0 : underflow);
    const double e = v == 0 && passed_on == 0 && roundings <= 1 ? 0 : (passed_on + rounding) * inflation;
    if (std::fabs(v) + e < threshold_) return {v, e, exact.r, exact.s};
    if (std::fabs(v) - e >= threshold_) return {std::copysign(infinite, v), 0};
    return {v, infinite};
  }

  double u_, underflow_;
  Sources shares_;
  Spread spread_;
  const TriedOrder* order_;
  double threshold_, smallest_normal_;
  bool flushes_;
  int significand_;
  Format format_;
};

}  // namespace tally::oracle
