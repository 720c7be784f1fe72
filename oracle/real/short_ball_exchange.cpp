// Between balls of fixed size and the library's.
#include <arb.h>

#include <cmath>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/short_ball_parts.hpp"

namespace tally::oracle {
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
