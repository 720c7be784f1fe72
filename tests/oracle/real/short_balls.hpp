// Balls of fixed size that make arithmetic hard, and whether a result holds what Arb finds with many more bits.
#pragma once

#include <arb.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "oracle/real/short_ball.hpp"

namespace tally::oracle {

/// Bits enough that every exact result below is known far past 128 bits.
constexpr unsigned known_bits = 1200;

inline arb_srcptr arb_of(const Ball& x) { return static_cast<arb_srcptr>(x.storage()); }

inline bool holds(const ShortBall& found, const Ball& exact) {
  return arb_contains(arb_of(enclosing(found)), arb_of(exact)) != 0;
}

inline std::string text_of(const ShortBall& x) {
  return shown(enclosing(x)) + " (" + std::to_string(static_cast<std::uint64_t>(x.middle >> 64)) + ":" +
         std::to_string(static_cast<std::uint64_t>(x.middle)) + ", 2^" + std::to_string(x.exponent) + ", off " +
         std::to_string(x.radius) + ")";
}

class ShortBalls {
 public:
  explicit ShortBalls(std::uint64_t seed) : random_(seed) {}

  std::int32_t between(std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(random_);
  }

  /// All bits in use, a power of two and its neighbours, or a short number.
  ShortBall::Whole middle() {
    const ShortBall::Whole all = ShortBall::Whole{random_()} << 64 | random_();
    switch (between(0, 7)) {
      case 0:
        return ShortBall::top_bit;
      case 1:
        return ~ShortBall::Whole{0};
      case 2:
        return ShortBall::top_bit + 1;
      case 3:
        return (all | ShortBall::top_bit) >> 104 << 104;
      case 4:
        return ~ShortBall::Whole{0} << between(0, 127);
      default:
        return all | ShortBall::top_bit;
    }
  }

  /// A number below 2^most in size, without error.
  ShortBall point(std::int32_t least, std::int32_t most) {
    return {middle(), 0, between(least, most), between(0, 1) == 1, false};
  }

  /// One that is off by nothing, by less than a unit, by a few, or by more than half of itself.
  ShortBall ball(std::int32_t least, std::int32_t most) {
    ShortBall x = point(least, most);
    const int kind = between(0, 5);
    if (kind == 1) x.radius = std::ldexp(1.5, -between(0, 90));
    if (kind == 2) x.radius = between(1, 100);
    if (kind == 3) x.radius = std::ldexp(1.25, between(0, 126));
    if (kind == 4) x.middle = 0, x.negative = false, x.radius = 1.75;
    return x;
  }

  /// Numbers of the ball: both ends, the midpoint, one between.
  std::vector<Ball> within(const ShortBall& x) {
    const BitsScope bits(known_bits);
    ShortBall middle = x;
    middle.radius = 0;
    const Ball centre = enclosing(middle),
               off = Ball(x.radius) * power(Ball(2), 2000) / power(Ball(2), 2128 - x.exponent);
    if (x.radius == 0) return {centre};
    return {centre, centre - off, centre + off, centre + off * std::uniform_real_distribution<double>(-1, 1)(random_)};
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace tally::oracle
