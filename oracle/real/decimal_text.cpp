// Numbers as decimal strings, and what else leaves the balls.
#include <mpfr.h>

#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "oracle/real/ball_view.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle {
namespace {

// Positional notation for 1e-6 <= |x| < 1e21, as JavaScript does.
constexpr mpfr_exp_t smallest_plain = -5, largest_plain = 21;

/// The number 0.<significand> * 10^exponent; no leading or trailing zero in the significand.
std::string layout(const std::string& significand, mpfr_exp_t exponent) {
  const auto count = static_cast<mpfr_exp_t>(significand.size());
  if (exponent < smallest_plain || exponent > largest_plain) {
    const std::string fraction = count > 1 ? "." + significand.substr(1) : "";
    return significand.substr(0, 1) + fraction + "e" + std::to_string(exponent - 1);
  }
  if (exponent <= 0) return "0." + std::string(static_cast<std::size_t>(-exponent), '0') + significand;
  if (exponent >= count) return significand + std::string(static_cast<std::size_t>(exponent - count), '0');
  const auto point = static_cast<std::size_t>(exponent);
  return significand.substr(0, point) + "." + significand.substr(point);
}

}  // namespace

std::string decimal_text(const Real& x, unsigned digits) { return decimal_text(raw(x), digits); }

std::string decimal_text(mpfr_srcptr x, unsigned digits) {
  if (mpfr_nan_p(x)) return "nan";
  if (!mpfr_number_p(x)) return mpfr_sgn(x) > 0 ? "inf" : "-inf";
  if (mpfr_zero_p(x)) return "0";
  mpfr_exp_t exponent = 0;
  char* text = mpfr_get_str(nullptr, &exponent, 10, digits, x, MPFR_RNDN);
  std::string significand = text;
  mpfr_free_str(text);
  const bool negative = significand[0] == '-';
  if (negative) significand.erase(0, 1);
  significand.erase(significand.find_last_not_of('0') + 1);
  return (negative ? "-" : "") + layout(significand, exponent);
}

// What leaves the balls: long doubles, text, sizes beside each other.
namespace {

constexpr slong bits_of_sizes = 64;

/// A scratch number of the library's, cleared in the end.
class Scratch {
 public:
  Scratch() { arb_init(value_); }
  ~Scratch() { arb_clear(value_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  operator arb_ptr() { return value_; }

 private:
  arb_t value_;
};

/// x times 10^digits, at most a little wider.
void scale_up(Scratch& x, unsigned digits) {
  Scratch ten;
  arb_set_ui(ten, 10);
  arb_pow_ui(ten, ten, digits, bits_of_sizes);
  arb_mul(x, x, ten, bits_of_sizes);
}

void most_of(Scratch& most, const Ball& x) {
  arb_get_abs_ubound_arf(arb_midref(static_cast<arb_ptr>(most)), view(x), bits_of_sizes);
}
void least_of(Scratch& least, const Ball& x) {
  arb_get_abs_lbound_arf(arb_midref(static_cast<arb_ptr>(least)), view(x), bits_of_sizes);
}

/// The numbers between which the ball lies, far closer to its ends than these are to each other.
class Ends {
 public:
  explicit Ends(const Ball& x) {
    const mpfr_prec_t bits = std::max<mpfr_prec_t>(arf_bits(arb_midref(view(x))), MPFR_PREC_MIN) + bits_of_sizes;
    mpfr_init2(least_, bits);
    mpfr_init2(most_, bits);
    arb_get_interval_mpfr(least_, most_, view(x));
  }
  ~Ends() {
    mpfr_clear(least_);
    mpfr_clear(most_);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  mpfr_srcptr least() const { return least_; }
  mpfr_srcptr most() const { return most_; }

 private:
  mpfr_t least_, most_;
};

/// The midpoint where MPFR's exponents reach it.
class Midpoint {
 public:
  Midpoint(const Ball& x, mpfr_prec_t bits) {
    mpfr_init2(value_, bits);
    inexact_ = arf_get_mpfr(value_, arb_midref(view(x)), MPFR_RNDN);
  }
  ~Midpoint() { mpfr_clear(value_); }
  Midpoint(const Midpoint&) = delete;
  Midpoint& operator=(const Midpoint&) = delete;
  mpfr_srcptr get() const { return value_; }
  bool exact() const { return inexact_ == 0; }

 private:
  mpfr_t value_;
  int inexact_;
};

double above(const mag_t x) {
  const double value = mag_get_d(x);
  return value < DBL_MIN && !mag_is_zero(x) ? DBL_MIN : value;
}

}  // namespace

Nearest nearest(const Ball& x) {
  if (!finite(x)) return {sign_or_special(x), 0};
  const long double value = mpfr_get_ld(Midpoint(x, LDBL_MANT_DIG).get(), MPFR_RNDN);
  if (!std::isfinite(value)) return {value, std::numeric_limits<long double>::infinity()};
  const Ball held(value);
  Scratch rest;
  arb_sub(rest, view(x), view(held), bits_of_sizes);
  mag_t off;
  mag_init(off);
  arb_get_mag(off, rest);
  const double distance = above(off);
  mag_clear(off);
  return {value, distance};
}

bool negligible(const Ball& part, const Ball& whole, unsigned digits) {
  Scratch most, least;
  most_of(most, part);
  least_of(least, whole);
  scale_up(most, digits);
  return arb_le(most, least) != 0;
}

const Ball& larger_for_certain(const Ball& x, const Ball& y) {
  Scratch of_x, of_y;
  least_of(of_x, x);
  least_of(of_y, y);
  return arb_lt(of_x, of_y) ? y : x;
}

std::string shown(const Ball& x) {
  constexpr slong digits = 6;
  char* text = arb_get_str(view(x), digits, 0);
  std::string result = text;
  flint_free(text);
  return result;
}

std::optional<std::string> decimal_text(const Ball& x, unsigned digits) {
  if (is_nan(x)) return "nan";
  if (!finite(x)) return sign_or_special(x) > 0 ? "inf" : "-inf";
  if (arb_is_zero(view(x))) return "0";
  Scratch radius, size;
  arf_set_mag(arb_midref(static_cast<arb_ptr>(radius)), arb_radref(view(x)));
  arf_abs(arb_midref(static_cast<arb_ptr>(size)), arb_midref(view(x)));
  scale_up(radius, digits);
  arb_mul_2exp_si(radius, radius, 2);
  if (!arb_le(radius, size)) return std::nullopt;
  const Midpoint middle(x, std::max<mpfr_prec_t>(arf_bits(arb_midref(view(x))), MPFR_PREC_MIN + 1));
  if (!middle.exact()) return std::nullopt;
  return decimal_text(middle.get(), digits);
}

std::optional<std::string> rounded_text(const Ball& x, unsigned digits) {
  if (!finite(x)) return std::nullopt;
  const Ends ends(x);
  std::string least = decimal_text(ends.least(), digits);
  if (least != decimal_text(ends.most(), digits)) return std::nullopt;
  return least;
}

}  // namespace tally::oracle
