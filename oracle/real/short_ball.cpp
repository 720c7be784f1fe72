#include "oracle/real/short_ball.hpp"

#include <cmath>
#include <stdexcept>

#include "oracle/real/short_ball_parts.hpp"

namespace tally::oracle {
namespace short_parts {
namespace {

/// 0, at most `radius` units off: the exponent such that the radius is from 1 to 2.
ShortBall around_zero(double radius, std::int64_t exponent, bool non_negative) {
  if (radius == 0) return {0, 0, 0, false, true};
  if (!std::isfinite(radius)) throw Undecided("a radius without bound");
  const int up = std::ilogb(radius);
  exponent += up;
  if (exponent > most_exponent) throw Undecided("a number beyond 2^(2^28)");
  if (exponent < -most_exponent) return {0, 2, -most_exponent, false, non_negative};
  return {0, std::ldexp(radius, -up), static_cast<std::int32_t>(exponent), false, non_negative};
}

}  // namespace

ShortBall settled(const ShortBall& x) {
  if (x.middle == 0) return around_zero(x.radius, x.exponent, x.non_negative);
  if (x.exponent > most_exponent) throw Undecided("a number beyond 2^(2^28)");
  if (!(x.radius <= most_radius)) return around_zero(upward(x.radius + 0x1p128), x.exponent, x.non_negative);
  if (x.exponent < -most_exponent) return around_zero(upward(x.radius + 0x1p128), -most_exponent, x.non_negative);
  return {x.middle, std::max(x.radius, least_radius), x.exponent, x.negative, x.non_negative};
}

}  // namespace short_parts

using namespace short_parts;

namespace {

/// (middle + rest 2^-128) 2^(exponent - 128), `radius` units off, cut to 128 bits; neither is 0 but with the other, or
/// the bits cancel.
ShortBall cancelled(Whole middle, Whole rest, double radius, std::int32_t exponent, bool negative, bool non_negative) {
  if (middle == 0) {
    middle = rest;
    rest = 0;
    exponent -= 128;
    radius *= 0x1p128;
    if (middle == 0) return result(0, upward(radius), exponent, false, non_negative);
  }
  const int zeros = leading_zeros(middle);
  if (zeros != 0) {
    middle = middle << zeros | rest >> (128 - zeros);
    rest <<= zeros;
    exponent -= zeros;
    radius *= two_to(zeros);
  }
  if (rest != 0) radius += 1;
  return result(middle, upward(radius), exponent, negative, non_negative);
}

/// x + y, y with another sign than its own where `turned`. Signs of data come as they like: no branch depends on them.
ShortBall sum(const ShortBall& x, const ShortBall& y, bool turned, bool non_negative) {
  const bool y_negative = y.negative != turned;
  if (y.is_zero()) return {x.middle, x.radius, x.exponent, x.negative, non_negative};
  if (x.is_zero()) return {y.middle, y.radius, y.exponent, y_negative && y.middle != 0, non_negative};
  const bool swap = x.exponent < y.exponent;
  const ShortBall &a = swap ? y : x, &b = swap ? x : y;
  const bool differ = x.negative != y_negative, a_negative = swap ? y_negative : x.negative;
  const std::int32_t down = a.exponent - b.exponent;
  const double radius = a.radius + scaled(b.radius, -std::int64_t{down});
  if (down >= 128) return result(a.middle, upward(radius + 1), a.exponent, a_negative, non_negative);
  // (middle, rest) is a plus or less (of_b, rest of b), with a carry above it or of the sign of b.
  const Whole turn = differ ? ~Whole{0} : 0;
  Whole rest = ((down == 0 ? 0 : b.middle << (128 - down)) ^ turn) - turn;
  const Whole of_b = ((b.middle >> down) ^ turn) + (differ && rest == 0 ? 1 : 0);
  Whole middle = a.middle + of_b;
  const bool over = middle < of_b || (differ && of_b == 0);
  const Whole back = differ && !over ? ~Whole{0} : 0;  // below 0: b is the larger
  rest = (rest ^ back) - back;
  middle = (middle ^ back) + (back != 0 && rest == 0 ? 1 : 0);
  const bool negative = a_negative != (back != 0);
  const int up = !differ && over ? 1 : 0;
  const bool lost = rest != 0 || (middle & static_cast<unsigned>(up)) != 0;
  if (up == 0 && (middle & ShortBall::top_bit) == 0)
    return cancelled(middle, rest, radius, a.exponent, negative, non_negative);
  middle = middle >> up | Whole{static_cast<unsigned>(up)} << 127;
  return result(middle, upward(radius * (up == 0 ? 1 : 0.5) + (lost ? 1 : 0)), a.exponent + up, negative, non_negative);
}

/// X / Y in units of 2^-128 where X < Y, else of 2^-127, from 2^127 on: at most quotient_error below the exact one and
/// no more than a small part of a unit above (oracle/short_ball.md, as the root).
constexpr double quotient_error = 2.5;
Whole quotient(Whole x, Whole y, bool below_one) {
  constexpr double below = 0x1p115 * (1 - 0x1p-52);
  const auto seed = static_cast<std::uint64_t>(below / static_cast<double>(static_cast<std::int64_t>(y >> 75) + 1));
  const Whole y_low = Whole{low(y)} * seed, y_high = Whole{high(y)} * seed + high(y_low);
  const Whole error = (((Whole{1} << 126) - y_high) << 51) - (low(y_low) >> 13);  // 1 - Y seed, in units of 2^-177
  const Whole square = Whole{high(error)} * high(error) >> 49;
  const Whole x_low = Whole{low(x)} * seed, x_high = Whole{high(x)} * seed + high(x_low);
  const Whole rough = below_one ? x_high << 2 | low(x_low) >> 62 : x_high << 1 | low(x_low) >> 63;
  const Whole found = rough + (times(rough, error + square) >> 49);
  if (found < rough) return ~Whole{0};
  return std::max(found, ShortBall::top_bit);
}

/// sqrt(V) in units of 2^-128 of V = v / 2^128 >= 1/4.
constexpr double root_error = 2.5;
Whole root(Whole v) {
  constexpr double below = 0x1p62 * (1 - 0x1p-51);
  const double above_v = static_cast<double>(static_cast<std::int64_t>(v >> 75) + 1) * 0x1p-53;
  const auto seed = static_cast<std::uint64_t>(below / std::sqrt(above_v));
  const Whole v_low = Whole{low(v)} * seed, v_high = Whole{high(v)} * seed + high(v_low);
  const Whole rough = v_high << 2 | low(v_low) >> 62;
  const Whole one_low = Whole{low(rough)} * seed, one_high = Whole{high(rough)} * seed + high(one_low);
  const Whole error = (((Whole{1} << 126) - one_high) << 49) - (low(one_low) >> 15);  // 1 - V seed^2, of 2^-175
  const Whole square = Whole{high(error)} * high(error) >> 47;
  const Whole found = rough + (times(rough, error / 2 + (square >> 3) * 3) >> 47);
  if (found < rough) return ~Whole{0};
  return std::max(found, ShortBall::top_bit);
}

}  // namespace

ShortBall ShortBall::of(std::int64_t value) {
  if (value == 0) return {0, 0, 0, false, true};
  const std::uint64_t size = value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const int zeros = std::countl_zero(size);
  return {Whole{size << zeros} << 64, 0, 64 - zeros, value<0, value> 0};
}

ShortBall ShortBall::of(long double value) {
  if (value == 0) return {0, 0, 0, false, true};
  if (!std::isfinite(value)) throw Undecided("a number that is not finite; balls of fixed size hold finite ones only");
  int exponent = 0;
  const auto size = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 64));
  return {Whole{size} << 64, 0, exponent, value<0, value> 0};
}

int ShortBall::sign_of_wide() const {
  if (is_zero()) return 0;
  return middle != 0 && radius < fraction_below(middle) * 0x1p128 ? (negative ? -1 : 1) : open;
}

int ShortBall::difference_sign(const ShortBall& x, const ShortBall& y) { return &x == &y ? 0 : (x - y).sign(); }

void ShortBall::overlap(const ShortBall& x, const ShortBall& y) {
  throw Undecided(shown(enclosing(x)) + " against " + shown(enclosing(y)));
}

ShortBall operator+(const ShortBall& x, const ShortBall& y) {
  return sum(x, y, false, x.known_not_negative() && y.known_not_negative());
}

ShortBall operator-(const ShortBall& x, const ShortBall& y) {
  if (&x == &y) return {0, 0, 0, false, true};
  return sum(x, y, true, false);
}

ShortBall operator*(const ShortBall& x, const ShortBall& y) {
  if (x.is_zero() || y.is_zero()) return {0, 0, 0, false, true};
  Product product = multiplied(x.middle, y.middle);
  std::int32_t exponent = x.exponent + y.exponent;
  double radius = 0;
  if (x.radius != 0 || y.radius != 0)
    radius = fraction_above(x.middle) * y.radius + fraction_above(y.middle) * x.radius + x.radius * y.radius * 0x1p-128;
  if ((product.high & ShortBall::top_bit) == 0) {
    product.high = product.high << 1 | product.low >> 127;
    product.low <<= 1;
    radius *= 2;
    --exponent;
  }
  if (product.low != 0) radius += 1;
  const bool non_negative = &x == &y || (x.known_not_negative() && y.known_not_negative());
  return result(product.high, upward(radius), exponent, product.high != 0 && x.negative != y.negative, non_negative);
}

ShortBall operator/(const ShortBall& x, const ShortBall& y) {
  const int sign = y.sign();
  if (sign == 0 || sign == ShortBall::open) throw Undecided("a division by " + shown(enclosing(y)));
  if (x.is_zero()) return x;
  const bool non_negative = x.known_not_negative() && y.known_not_negative();
  const bool negative = x.middle != 0 && x.negative != y.negative;
  const bool below_one = x.middle < y.middle, power_of_two = y.middle == ShortBall::top_bit;
  std::int32_t exponent = x.exponent - y.exponent + (below_one ? 0 : 1);
  Whole middle = 0;
  double radius = 0;
  if (power_of_two || x.middle == y.middle)
    middle = x.middle == y.middle ? ShortBall::top_bit : x.middle;
  else if (x.middle != 0)
    middle = quotient(x.middle, y.middle, below_one), radius = quotient_error;
  if (x.radius != 0 || y.radius != 0) {
    const double least = fraction_below(y.middle) - upward(y.radius) * 0x1p-128;
    const double off = x.radius + fraction_above(middle) * (below_one ? 1 : 2) * y.radius;
    radius += upward(off / least) * (below_one ? 1 : 0.5);
  }
  return result(middle, upward(radius), exponent, negative, non_negative);
}

ShortBall sqrt(const ShortBall& x) {
  if (x.is_zero()) return x;
  const int sign = x.sign();
  if (sign == -1 || (sign == ShortBall::open && !x.non_negative)) throw Undecided("the root of " + shown(enclosing(x)));
  const int odd = x.exponent & 1;
  const std::int32_t exponent = (x.exponent + odd) / 2;
  if (sign == ShortBall::open) {  // all of it is at most middle + radius
    const double most = upward(fraction_above(x.middle) + x.radius * 0x1p-128);
    return result(0, upward(std::sqrt(most)) * 0x1p128, exponent, false, true);
  }
  const Whole v = x.middle >> odd;
  const Whole middle = root(v);
  double radius = root_error + odd;  // the bit that was cut off: at most a unit of the root, whose slope is at most 1
  if (x.radius != 0) {
    const double share = x.radius / (fraction_below(x.middle) * 0x1p128);  // of x
    const double slope = share < 0x1p-30 ? 0.5 + 0x1p-30 : 1;
    radius += upward(x.radius * (odd == 0 ? 1 : 0.5) * slope / fraction_below(middle));
  }
  return result(middle, upward(radius), exponent, false, true);
}

ShortBall magnitude(const ShortBall& x) { return {x.middle, x.radius, x.exponent, false, true}; }

std::int64_t to_integer(const ShortBall& x) {
  if (x.is_zero()) return 0;
  const bool whole = x.radius == 0 && x.exponent > 0 && x.exponent < 64 && x.middle << x.exponent == 0;
  if (!whole) throw std::logic_error("no integer: " + shown(enclosing(x)));
  const auto size = static_cast<std::int64_t>(x.middle >> (128 - x.exponent));
  return x.negative ? -size : size;
}

ShortBall power(const ShortBall& x, std::int64_t n) {
  ShortBall result = 1, square = x;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) result *= square;
    if (n > 1) square *= square;
  }
  return result;
}

bool surely_greater(const ShortBall& x, const ShortBall& y) { return (x - y).sign() == 1; }

/// As far from x as the other may be, either of them is in the ball around x.
ShortBall larger(const ShortBall& x, const ShortBall& y) {
  const ShortBall apart = x - y;
  const int sign = apart.sign();
  if (sign != ShortBall::open) return sign >= 0 ? x : y;
  ShortBall found =
      x + ShortBall(0, upward(apart.radius + fraction_above(apart.middle) * 0x1p128), apart.exponent, false, false);
  found.non_negative = x.known_not_negative() || y.known_not_negative();
  return found;
}

ShortBall smaller(const ShortBall& x, const ShortBall& y) {
  ShortBall found = -larger(-x, -y);
  found.non_negative = x.known_not_negative() && y.known_not_negative();
  return found;
}

}  // namespace tally::oracle
