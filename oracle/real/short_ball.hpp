// A ball of fixed size: a midpoint of 128 bits and a radius, in 32 bytes that own nothing. What Ball (oracle/real/ball.hpp)
// proves with any number of bits this proves with as many as 113 certain ones take, at a small part of the time. Every
// error is derived in oracle/short_ball.md.
//
// It holds finite numbers only. What Ball answers with an infinity or NaN, and what leaves the exponents that there are,
// throws Undecided, as does what an enclosure leaves open.
// Defined in short_ball.cpp, short_ball_functions.cpp, number.cpp.
#pragma once

#include <concepts>
#include <cstdint>

#include "oracle/real/ball.hpp"

namespace tally::oracle {

struct ShortBall {
  using Whole = unsigned __int128;
  static constexpr Whole top_bit = Whole{1} << 127;

  /// Not set; all bits 0 is the number 0.
  ShortBall() = default;
  template <std::integral I>
  ShortBall(I value) : ShortBall(of(static_cast<std::int64_t>(value))) {}
  template <std::floating_point F>
  ShortBall(F value) : ShortBall(of(static_cast<long double>(value))) {}
  ShortBall(Whole middle_, double radius_, std::int32_t exponent_, bool negative_, bool non_negative_)
      : middle(middle_), radius(radius_), exponent(exponent_), negative(negative_), non_negative(non_negative_) {}

  Whole middle;           // 0, or from 2^127 on
  double radius;          // the number is at most this off, in units of 2^(exponent - 128)
  std::int32_t exponent;  // the midpoint is +-middle 2^(exponent - 128)
  bool negative;
  bool non_negative;  // known to be 0 or more by how it came about, though the ball itself may reach below

  bool is_zero() const { return middle == 0 && radius == 0; }
  bool known_not_negative() const { return non_negative || sign() >= 0; }
  /// -1 or 1 where the whole ball is below or above 0, 0 for the number 0, `open` where the ball reaches over 0.
  static constexpr int open = -2;
  int sign() const {
    if (middle != 0 && radius <= 0x1p126) return negative ? -1 : 1;
    return sign_of_wide();
  }

  ShortBall& operator+=(const ShortBall& other) { return *this = *this + other; }
  ShortBall& operator-=(const ShortBall& other) { return *this = *this - other; }
  ShortBall& operator*=(const ShortBall& other) { return *this = *this * other; }
  ShortBall& operator/=(const ShortBall& other) { return *this = *this / other; }

  friend ShortBall operator+(const ShortBall& x, const ShortBall& y);
  /// One object minus itself is 0, times itself not negative.
  friend ShortBall operator-(const ShortBall& x, const ShortBall& y);
  friend ShortBall operator*(const ShortBall& x, const ShortBall& y);
  /// Undecided where the divisor may be 0 or is.
  friend ShortBall operator/(const ShortBall& x, const ShortBall& y);
  friend ShortBall operator-(const ShortBall& x) {
    return {x.middle, x.radius, x.exponent, !x.negative && x.middle != 0, x.is_zero()};
  }

  /// Undecided where the balls overlap and are not two points.
  friend bool operator<(const ShortBall& x, const ShortBall& y) { return order(x, y) < 0; }
  friend bool operator==(const ShortBall& x, const ShortBall& y) { return order(x, y) == 0; }
  friend bool operator<=(const ShortBall& x, const ShortBall& y) { return order(x, y) <= 0; }
  friend bool operator>(const ShortBall& x, const ShortBall& y) { return order(x, y) > 0; }
  friend bool operator>=(const ShortBall& x, const ShortBall& y) { return order(x, y) >= 0; }
  friend bool operator!=(const ShortBall& x, const ShortBall& y) { return order(x, y) != 0; }

 private:
  static ShortBall of(std::int64_t value);
  static ShortBall of(long double value);
  int sign_of_wide() const;
  /// The sign of x - y.
  static int order(const ShortBall& x, const ShortBall& y) {
    const int found = y.is_zero() ? x.sign() : difference_sign(x, y);
    if (found == open) overlap(x, y);
    return found;
  }
  static int difference_sign(const ShortBall& x, const ShortBall& y);
  [[noreturn]] static void overlap(const ShortBall& x, const ShortBall& y);
};

ShortBall exp(const ShortBall& x);
ShortBall log1p(const ShortBall& x);
ShortBall tanh(const ShortBall& x);
ShortBall cosh(const ShortBall& x);
/// y / cosh² x = 4 y z / (1 + z)², z = e^(-2 |x|): one quotient.
ShortBall over_cosh_squared(const ShortBall& y, const ShortBall& x);
ShortBall cos(const ShortBall& x);
ShortBall sin(const ShortBall& x);
ShortBall erf(const ShortBall& x);
ShortBall erfc(const ShortBall& x);
/// The root, Undecided where x may be below 0; that of the ball's part from 0 on where x is known not to be negative.
ShortBall sqrt(const ShortBall& x);
ShortBall magnitude(const ShortBall& x);
inline bool is_nan(const ShortBall&) { return false; }
inline bool is_finite(const ShortBall&) { return true; }
/// The integer that a point holds.
std::int64_t to_integer(const ShortBall& x);
/// x^n, n >= 0.
ShortBall power(const ShortBall& x, std::int64_t n);
/// Continuous, so that nothing need be decided.
ShortBall larger(const ShortBall& x, const ShortBall& y);
ShortBall smaller(const ShortBall& x, const ShortBall& y);
bool surely_greater(const ShortBall& x, const ShortBall& y);
ShortBall pi_short_ball();

/// The same ball, and a ball that holds the whole of one: its midpoint rounded to 128 bits.
Ball enclosing(const ShortBall& x);
ShortBall short_ball(const Ball& x);

}  // namespace tally::oracle

namespace Eigen {
template <>
struct NumTraits<tally::oracle::ShortBall> : GenericNumTraits<tally::oracle::ShortBall> {
  using Real = tally::oracle::ShortBall;
  using NonInteger = tally::oracle::ShortBall;
  using Literal = tally::oracle::ShortBall;
  using Nested = tally::oracle::ShortBall;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 4,
    AddCost = 20,
    MulCost = 20
  };
};
}  // namespace Eigen
