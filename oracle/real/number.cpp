// From the case's text and bits to the oracle's scalars, and between balls of fixed size and the library's.
#include "oracle/real/number.hpp"

#include <arb.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/real.hpp"
#include "oracle/real/short_ball_parts.hpp"

namespace tally::oracle {

void set_digits(unsigned digits) { Real::default_precision(digits); }

unsigned digits() { return Real::default_precision(); }

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw std::logic_error("\"" + text + "\" is not a decimal number");
}

template <class T>
T element(const Tensor& tensor, std::size_t i) {
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  return whole ? T(tensor.integer(i)) : T(tensor.value(i));
}

template <>
ShortBall element<ShortBall>(const Tensor& tensor, std::size_t i) {
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  if (whole) return tensor.integer(i);
  const double value = tensor.value(i);
  if (std::isfinite(value)) return value;
  const auto columns =
      tensor.shape.size() < 2 ? tensor.elements() : tensor.elements() / static_cast<std::size_t>(tensor.shape[0]);
  throw Undecided("row " + std::to_string(i / columns) + ", column " + std::to_string(i % columns) +
                  " is not finite; balls of fixed size hold finite numbers only");
}

template <class T>
Matrix<T> lift_block(const Tensor& tensor, std::int64_t skip, std::int64_t rows, std::int64_t columns) {
  Matrix<T> result(rows, columns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      result(r, c) = element<T>(tensor, static_cast<std::size_t>((skip + r) * columns + c));
  return result;
}

}  // namespace

template <>
Real number<Real>(const Decimal& decimal) {
  Real result;
  if (mpfr_set_str(raw(result), decimal.text.c_str(), 10, MPFR_RNDN) != 0) refuse(decimal.text);
  return result;
}

template <>
long double number<long double>(const Decimal& decimal) {
  char* end = nullptr;
  const long double result = std::strtold(decimal.text.c_str(), &end);
  if (decimal.text.empty() || *end != '\0') refuse(decimal.text);
  return result;
}

template <>
Ball number<Ball>(const Decimal& decimal) {
  Ball result;
  if (arb_set_str(view(result), decimal.text.c_str(), precision()) != 0 || !finite(result)) refuse(decimal.text);
  result.set_non_negative(arb_is_nonnegative(view(result)));
  return result;
}

template <>
ShortBall number<ShortBall>(const Decimal& decimal) {
  const BitsScope bits(192);
  return short_ball(number<Ball>(decimal));
}

template <class T>
Matrix<T> lift(const Tensor& tensor) {
  const auto& shape = tensor.shape;
  if (shape.empty()) return lift_block<T>(tensor, 0, 1, 1);
  if (shape.size() == 1) return lift_block<T>(tensor, 0, 1, shape[0]);
  return lift_block<T>(tensor, 0, shape[0],
                       static_cast<std::int64_t>(tensor.elements()) / std::max<std::int64_t>(shape[0], 1));
}

template <class T>
Matrix<T> lift_rows(const Tensor& tensor, std::int64_t first, std::int64_t rows) {
  if (tensor.shape.size() == 1) return lift_block<T>(tensor, first, rows, 1).transpose();
  return lift_block<T>(tensor, first, rows, tensor.shape.at(1));
}

template Matrix<Real> lift<Real>(const Tensor&);
template Matrix<long double> lift<long double>(const Tensor&);
template Matrix<Ball> lift<Ball>(const Tensor&);
template Matrix<ShortBall> lift<ShortBall>(const Tensor&);
template Matrix<Real> lift_rows<Real>(const Tensor&, std::int64_t, std::int64_t);
template Matrix<long double> lift_rows<long double>(const Tensor&, std::int64_t, std::int64_t);
template Matrix<Ball> lift_rows<Ball>(const Tensor&, std::int64_t, std::int64_t);
template Matrix<ShortBall> lift_rows<ShortBall>(const Tensor&, std::int64_t, std::int64_t);

namespace {

using short_parts::Whole;

constexpr slong middle_bits = 128;

class Integer {
 public:
  Integer() { fmpz_init(value_); }
  ~Integer() { fmpz_clear(value_); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;
  operator fmpz*() { return value_; }

 private:
  fmpz_t value_;
};

class Magnitude {
 public:
  Magnitude() { mag_init(value_); }
  ~Magnitude() { mag_clear(value_); }
  Magnitude(const Magnitude&) = delete;
  Magnitude& operator=(const Magnitude&) = delete;
  operator mag_struct*() { return value_; }

 private:
  mag_t value_;
};

/// middle 2^shift, 2^127 <= middle, of a number that has no more bits.
Whole normalised(fmpz* whole, slong& shift) {
  const auto bits = static_cast<slong>(fmpz_bits(whole));
  fmpz_mul_2exp(whole, whole, static_cast<ulong>(middle_bits - bits));
  shift += bits - middle_bits;
  ulong words[2];
  fmpz_get_ui_array(words, 2, whole);
  return Whole{words[1]} << 64 | words[0];
}

slong exponent_of(const fmpz* x) {
  if (fmpz_cmp_si(x, short_parts::most_exponent) > 0 || fmpz_cmp_si(x, -short_parts::most_exponent) < 0)
    throw Undecided("a number with an exponent beyond 2^28");
  return fmpz_get_si(x);
}

}  // namespace

Ball enclosing(const ShortBall& x) {
  Ball result;
  arb_ptr ball = view(result);
  Integer middle;
  fmpz_set_uiui(middle, short_parts::high(x.middle), short_parts::low(x.middle));
  arf_set_fmpz(arb_midref(ball), middle);
  mag_set_d(arb_radref(ball), x.radius);
  arb_mul_2exp_si(ball, ball, slong{x.exponent} - middle_bits);
  if (x.negative) arb_neg(ball, ball);
  result.set_non_negative(x.known_not_negative());
  return result;
}

ShortBall short_ball(const Ball& x) {
  if (!finite(x)) throw Undecided(shown(x) + " in a ball of fixed size");
  Ball rounded;
  arb_set_round(view(rounded), view(x), middle_bits);
  ShortBall result = 0;
  slong shift = -middle_bits;
  if (arf_is_zero(arb_midref(view(rounded))) == 0) {
    Integer whole, exponent;
    arf_get_fmpz_2exp(whole, exponent, arb_midref(view(rounded)));
    result.negative = fmpz_sgn(whole) < 0;
    fmpz_abs(whole, whole);
    shift = exponent_of(exponent);
    result.middle = normalised(whole, shift);
  } else if (!is_point(rounded)) {
    shift = exponent_of(MAG_EXPREF(arb_radref(view(rounded))));
  }
  Magnitude radius;
  mag_mul_2exp_si(radius, arb_radref(view(rounded)), -shift);
  if (mag_cmp_2exp_si(radius, 900) > 0) throw Undecided(shown(x) + " in a ball of fixed size");
  double off = mag_get_d(radius);
  if (off < short_parts::least_radius && mag_is_zero(radius) == 0) off = short_parts::least_radius;
  return short_parts::result(result.middle, off, static_cast<std::int32_t>(shift + middle_bits), result.negative,
                             known_not_negative(x));
}

}  // namespace tally::oracle
