// Elementary functions under one name for the oracle's scalars. For Real they are MPFR's, correctly rounded at the
// current precision (Boost would send erf and log1p through series with constants cached at another precision); for
// long double libm's; for Ball and ShortBall enclosures (oracle/real/ball.hpp, oracle/real/short_ball.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "oracle/real/ball.hpp"
#include "oracle/real/real.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle {

/// MPFR's own view of a Real.
inline mpfr_srcptr raw(const Real& x) { return x.backend().data(); }
inline mpfr_ptr raw(Real& x) { return x.backend().data(); }

template <auto Function>
Real rounded(const Real& x) {
  Real result;
  Function(raw(result), raw(x), MPFR_RNDN);
  return result;
}

inline Real exp(const Real& x) { return rounded<mpfr_exp>(x); }
inline Real log1p(const Real& x) { return rounded<mpfr_log1p>(x); }
inline Real tanh(const Real& x) { return rounded<mpfr_tanh>(x); }
inline Real cosh(const Real& x) { return rounded<mpfr_cosh>(x); }
inline Real cos(const Real& x) { return rounded<mpfr_cos>(x); }
inline Real sin(const Real& x) { return rounded<mpfr_sin>(x); }
inline Real erf(const Real& x) { return rounded<mpfr_erf>(x); }
inline Real erfc(const Real& x) { return rounded<mpfr_erfc>(x); }
inline Real sqrt(const Real& x) { return rounded<mpfr_sqrt>(x); }
inline Real magnitude(const Real& x) {
  Real result = x;
  mpfr_setsign(raw(result), raw(x), 0, MPFR_RNDN);
  return result;
}
inline bool is_nan(const Real& x) { return mpfr_nan_p(raw(x)) != 0; }
inline bool is_finite(const Real& x) { return mpfr_number_p(raw(x)) != 0; }
inline std::int64_t to_integer(const Real& x) { return mpfr_get_sj(raw(x), MPFR_RNDN); }

inline long double exp(long double x) { return std::exp(x); }
inline long double log1p(long double x) { return std::log1p(x); }
inline long double tanh(long double x) { return std::tanh(x); }
inline long double cosh(long double x) { return std::cosh(x); }
inline long double cos(long double x) { return std::cos(x); }
inline long double sin(long double x) { return std::sin(x); }
inline long double erf(long double x) { return std::erf(x); }
inline long double erfc(long double x) { return std::erfc(x); }
inline long double sqrt(long double x) { return std::sqrt(x); }
inline long double magnitude(long double x) { return std::fabs(x); }
inline bool is_nan(long double x) { return std::isnan(x); }
inline bool is_finite(long double x) { return std::isfinite(x); }
inline std::int64_t to_integer(long double x) { return std::llround(x); }

/// x^n, n >= 0.
inline Real power(const Real& x, std::int64_t n) {
  Real result;
  mpfr_pow_ui(raw(result), raw(x), static_cast<unsigned long>(n), MPFR_RNDN);
  return result;
}
inline long double power(long double x, std::int64_t n) { return std::pow(x, static_cast<long double>(n)); }

/// The larger (smaller) one; NaN where x or y is.
template <class T>
T larger(const T& x, const T& y) {
  return is_nan(x) || x > y ? x : y;
}
template <class T>
T smaller(const T& x, const T& y) {
  return is_nan(x) || x < y ? x : y;
}
/// For choices on which no result depends.
template <class T>
bool surely_greater(const T& x, const T& y) {
  return x > y;
}

/// y / cosh² x.
template <class T>
T over_cosh_squared(const T& y, const T& x) {
  const T c = cosh(x);
  return y / c / c;
}

template <class T>
T pi();
template <>
inline Ball pi<Ball>() {
  return pi_ball();
}
template <>
inline ShortBall pi<ShortBall>() {
  return pi_short_ball();
}
template <>
inline Real pi<Real>() {
  Real result;
  mpfr_const_pi(raw(result), MPFR_RNDN);
  return result;
}
template <>
inline long double pi<long double>() {
  return 3.14159265358979323846264338327950288L;
}

/// Undecided in a ball of fixed size, which holds finite numbers only.
template <class T>
T not_a_number();
template <>
inline ShortBall not_a_number<ShortBall>() {
  return std::numeric_limits<double>::quiet_NaN();
}
template <>
inline Ball not_a_number<Ball>() {
  return std::numeric_limits<double>::quiet_NaN();
}
template <>
inline Real not_a_number<Real>() {
  Real result;
  mpfr_set_nan(raw(result));
  return result;
}
template <>
inline long double not_a_number<long double>() {
  return std::numeric_limits<long double>::quiet_NaN();
}

}  // namespace tally::oracle
