// Proofs of every error: oracle/short_ball.md. Constants and tables are Arb's, rounded to the nearest at first use.
#include <arb_hypgeom.h>

#include <array>
#include <cmath>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/short_ball_parts.hpp"

namespace tally::oracle {

using namespace short_parts;

namespace {

constexpr unsigned table_bits = 256;

/// The whole number nearest to x 2^places, 0 <= x, in words of 64 bits, the lowest first.
template <std::size_t words>
std::array<ulong, words> nearest_whole(const Ball& x, slong places) {
  std::array<ulong, words> result;
  arf_t shifted;
  arf_init(shifted);
  arf_mul_2exp_si(shifted, arb_midref(view(x)), places);
  fmpz_t whole;
  fmpz_init(whole);
  arf_get_fmpz(whole, shifted, ARF_RND_NEAR);
  fmpz_get_ui_array(result.data(), words, whole);
  fmpz_clear(whole);
  arf_clear(shifted);
  return result;
}

Whole nearest_128(const Ball& x, slong places) {
  const auto words = nearest_whole<2>(x, places);
  return Whole{words[1]} << 64 | words[0];
}

struct ExpTables {
  std::array<Whole, 179> coarse;  // e^(n / 2^8) in units of 2^-127, up to ln 2 < 178 / 256
  std::array<Whole, 256> fine;    // e^(n / 2^16) likewise
  Whole ln2;                      // its first 128 bits
  std::uint64_t ln2_rest;         // and the 64 that follow
  double inverse_ln2;
  Whole sixth;
  std::array<std::uint64_t, 4> tail;  // 1/4!, 1/5!, 1/6!, 1/7! in units of 2^-64

  ExpTables() {
    const BitsScope bits(table_bits);
    for (std::size_t n = 0; n < coarse.size(); ++n)
      coarse[n] = nearest_128(exp(Ball(std::ldexp(static_cast<double>(n), -8))), 127);
    for (std::size_t n = 0; n < fine.size(); ++n)
      fine[n] = nearest_128(exp(Ball(std::ldexp(static_cast<double>(n), -16))), 127);
    const Ball exact = log1p(Ball(1));
    const auto words = nearest_whole<3>(exact, 192);
    ln2 = Whole{words[2]} << 64 | words[1];
    ln2_rest = words[0];
    inverse_ln2 = static_cast<double>(nearest(Ball(1) / exact).value);
    sixth = nearest_128(Ball(1) / 6, 128);
    Ball factorial = 6;
    for (std::size_t n = 0; n < tail.size(); ++n) {
      factorial *= static_cast<int>(n) + 4;
      tail[n] = nearest_whole<1>(Ball(1) / factorial, 64)[0];
    }
  }
};

/// whole + part 2^-128.
struct Split {
  std::uint64_t whole;
  Whole part;
};

/// |midpoint|, less than a unit cut off; its exponent is at most 28.
Split split_ball(const ShortBall& x) {
  if (x.exponent > 0) return {static_cast<std::uint64_t>(x.middle >> (128 - x.exponent)), x.middle << x.exponent};
  return {0, x.exponent > -128 ? x.middle >> -x.exponent : 0};
}

/// value 2^-127 2^two, value from 2^127 on: e^x less than exp_error off in units of value.
struct Exponential {
  Whole value;
  std::int32_t two;
};
constexpr double exp_error = 12;

/// e^(s 2^-16) - 1 in units of 2^-113, s = part / 2^128.
Whole exp_of_tiny_less_one(const ExpTables& tables, Whole part) {
  const std::uint64_t s = high(part);
  std::uint64_t tail = times(s, tables.tail[3]) >> 16;
  tail = times(s, tables.tail[2] + tail) >> 16;
  tail = times(s, tables.tail[1] + tail) >> 16;
  tail = times(s, tables.tail[0] + tail);
  const Whole cubic = tables.sixth + (Whole{tail} << 48);
  const Whole square = ShortBall::top_bit + (times(part, cubic) >> 16);
  return (part >> 1) + (times(times(part, part), square) >> 17);
}

Exponential exp_of_midpoint(const ShortBall& x) {
  static const ExpTables tables;
  const Split size = split_ball(x);
  const double about = static_cast<double>(size.whole) + static_cast<double>(high(size.part)) * 0x1p-64;
  auto count = static_cast<std::uint64_t>(about * tables.inverse_ln2);
  // t = size - count ln 2
  const Whole p0 = Whole{count} * tables.ln2_rest, p1 = Whole{count} * low(tables.ln2) + high(p0);
  const Whole p2 = Whole{count} * high(tables.ln2) + high(p1);
  const Whole taken = p2 << 64 | low(p1);
  Whole t = size.part - taken;
  if (size.whole - high(p2) - (size.part < taken ? 1 : 0) != 0) {  // below 0: the count is at most one off
    t += tables.ln2;
    --count;
  } else if (t >= tables.ln2) {
    t -= tables.ln2;
    ++count;
  }
  auto two = static_cast<std::int32_t>(count);
  if (x.negative) {
    t = tables.ln2 - t;
    two = -two - 1;
  }
  const std::uint64_t top = high(t);
  const Product steps = multiplied(tables.coarse[top >> 56], tables.fine[top >> 48 & 255]);
  const Whole start = steps.high << 1 | steps.low >> 127,
              more = times(start, exp_of_tiny_less_one(tables, t << 16)) >> 15;
  const Whole value = start + more;
  return {value < start ? ~Whole{0} : value, two};
}

/// At most e^d - 1 of d from 0 to 1.
double growth(double d) { return d + d * d; }

/// f of a ball by the library, at a few bits more than 128.
template <class F>
ShortBall by_library(F&& function, const ShortBall& x) {
  const BitsScope bits(160);
  return short_ball(function(enclosing(x)));
}

}  // namespace

ShortBall exp(const ShortBall& x) {
  if (x.is_zero()) return 1;
  const double off = plain_radius(x);
  if (!(off <= 1)) throw Undecided("exp of " + shown(enclosing(x)));
  if (x.exponent > 28) {
    if (!x.negative) throw Undecided("exp of " + shown(enclosing(x)));
    return result(0, 0x1p128, -most_exponent, false, true);  // e^(1 - 2^28) < 2^-2^28
  }
  const Exponential found = exp_of_midpoint(x);
  return result(found.value, upward(exp_error + (off == 0 ? 0 : upward(growth(off)) * 0x1p128)), found.two + 1, false,
                true);
}

ShortBall cosh(const ShortBall& x) {
  const ShortBall grown = exp(magnitude(x));
  ShortBall sum = grown + 1 / grown;
  sum.exponent -= 1;
  return sum;
}

ShortBall over_cosh_squared(const ShortBall& y, const ShortBall& x) {
  ShortBall exponent = magnitude(x), numerator = y;
  exponent.exponent += 1;
  exponent.negative = exponent.middle != 0;
  exponent.non_negative = false;
  numerator.exponent += numerator.is_zero() ? 0 : 2;
  const ShortBall falling = exp(exponent), sum = 1 + falling;
  return numerator * falling / (sum * sum);
}

namespace {

/// tanh x = x (1 - z (c_1 - z (c_2 - ...))), z = x^2: c_1 = 1/3, c_2 = 2/15, each next one at most 0.41 of it.
constexpr std::size_t tanh_terms = 18;
struct TanhSeries {
  std::array<Whole, tanh_terms + 1> c;  // in units of 2^-128, c[0] not set

  TanhSeries() {  // (2 n + 1) c_n = sum of c_i c_j, i + j = n - 1, as tanh' = 1 - tanh^2
    const BitsScope bits(table_bits);
    std::array<Ball, tanh_terms + 1> exact;
    exact[0] = 1;
    for (std::size_t n = 1; n <= tanh_terms; ++n) {
      for (std::size_t i = 0; i < n; ++i) exact[n] += exact[i] * exact[n - 1 - i];
      exact[n] /= 2 * static_cast<int>(n) + 1;
      c[n] = nearest_128(exact[n], 128);
    }
  }
};

/// The result for |midpoint| < 1/8 is less than tanh_error units off.
constexpr double tanh_error = 8;
constexpr std::int32_t tanh_series_below = -3;
ShortBall tanh_of_small(const ShortBall& x) {
  static const TanhSeries series;
  const Whole square = times(x.middle, x.middle);
  const Whole z = x.exponent > -64 ? square >> (-2 * x.exponent) : 0;
  auto terms = static_cast<std::size_t>(128 / (-2 * x.exponent + 1)) + 1;
  terms = std::min(terms, tanh_terms);
  Whole sum = series.c[terms];
  while (--terms > 0) sum = series.c[terms] - times(z, sum);
  const Whole factor = -times(z, sum);  // 0 for 1
  const Whole middle = factor == 0 ? x.middle : times(x.middle, factor);
  const bool whole = (middle & ShortBall::top_bit) != 0;
  return {whole ? middle : middle << 1, tanh_error, x.exponent - (whole ? 0 : 1), x.negative, false};
}

}  // namespace

ShortBall tanh(const ShortBall& x) {
  if (x.is_zero()) return x;
  const bool non_negative = x.known_not_negative();
  ShortBall found = 0;
  if (x.middle == 0) {
    found = x;
  } else if (x.exponent <= tanh_series_below) {
    found = tanh_of_small(x);
    found = result(found.middle, upward(found.radius + x.radius * (found.exponent == x.exponent ? 1 : 2)),
                   found.exponent, found.negative, false);
  } else {
    ShortBall twice = magnitude(x);
    twice.exponent += 1;
    twice.negative = true;
    const ShortBall falling = exp(twice);
    found = (1 - falling) / (1 + falling);
    found.negative = found.middle != 0 && x.negative;
  }
  found.non_negative = non_negative;
  return found;
}

namespace {

/// log1p of a midpoint below 1/8, by 2 atanh z, z = x / (2 + x), |z| < 1/14: 2 z (1 + z^2 / 3 + z^4 / 5 + ...).
constexpr double most_off_of_small = 0x1p-10;
ShortBall log1p_of_small(const ShortBall& x) {
  if (!(plain_radius(x) <= most_off_of_small)) throw Undecided("log1p of " + shown(enclosing(x)));
  constexpr int terms = 17;  // what follows is less than 14^-34 / 35 / (1 - 14^-2) < 2^-134 of the sum: part of a unit
  const ShortBall z = x / (2 + x), square = z * z;
  ShortBall sum = ShortBall(1) / (2 * terms - 1);
  for (int n = terms - 2; n >= 0; --n) sum = sum * square + ShortBall(1) / (2 * n + 1);
  return 2 * z * widened(sum, 1);
}

}  // namespace

ShortBall log1p(const ShortBall& x) {
  if (x.is_zero()) return x;
  ShortBall found = 0;
  if (x.exponent <= -3) {
    found = log1p_of_small(x);
  } else {
    const ShortBall argument = 1 + x;
    if (argument.sign() != 1 || argument.exponent > 1000) throw Undecided("log1p of " + shown(enclosing(x)));
    const double about = std::ldexp(fraction_above(argument.middle), argument.exponent);
    const ShortBall start = std::ldexp(std::round(std::ldexp(std::log(about), 40)), -40);
    const ShortBall left = argument * exp(-start) - 1;
    if (left.exponent > -3) throw Undecided("log1p of " + shown(enclosing(x)));
    found = start + (left.is_zero() ? left : log1p_of_small(left));
  }
  found.non_negative = x.known_not_negative();
  return found;
}

ShortBall cos(const ShortBall& x) {
  return by_library([](const Ball& y) { return cos(y); }, x);
}
ShortBall sin(const ShortBall& x) {
  return by_library([](const Ball& y) { return sin(y); }, x);
}
ShortBall erf(const ShortBall& x) {
  return by_library([](const Ball& y) { return erf(y); }, x);
}
ShortBall erfc(const ShortBall& x) {
  return by_library([](const Ball& y) { return erfc(y); }, x);
}

ShortBall pi_short_ball() {
  static const ShortBall pi = by_library([](const Ball&) { return pi_ball(); }, ShortBall(0));
  return pi;
}

}  // namespace tally::oracle
