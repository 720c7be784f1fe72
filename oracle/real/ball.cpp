// Balls: arithmetic, comparisons, elementary functions.
#include "oracle/real/ball.hpp"

#include <arb_hypgeom.h>
#include <mpfr.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "oracle/real/ball_view.hpp"

namespace tally::oracle {
namespace {

static_assert(sizeof(arb_struct) == 6 * sizeof(std::uint64_t) && alignof(arb_struct) <= 8);

thread_local unsigned bits_in_force = 128;

/// Undecided where the two overlap and are not two points.
[[noreturn]] void overlap(const Ball& x, const Ball& y) { throw Undecided(shown(x) + " against " + shown(y)); }

bool two_points(const Ball& x, const Ball& y) { return is_point(x) && is_point(y); }

}  // namespace

double sign_or_special(const Ball& x) {
  const arf_srcptr middle = arb_midref(view(x));
  if (!finite(x)) return arf_get_d(middle, ARF_RND_NEAR);
  if (arb_is_zero(view(x))) return 0;
  if (arb_is_positive(view(x))) return 1;
  if (arb_is_negative(view(x))) return -1;
  throw Undecided("the sign of " + shown(x));
}

// A zero Arb number is all zero words and owns nothing.
void Ball::clear() noexcept { words_.fill(0); }

Ball::Ball(const Ball& other) : non_negative_(other.non_negative_) {
  clear();
  arb_set(view(*this), view(other));
}

Ball::Ball(Ball&& other) noexcept : words_(other.words_), non_negative_(other.non_negative_) {
  other.clear();
  other.non_negative_ = true;
}

Ball& Ball::operator=(const Ball& other) {
  if (this != &other) arb_set(view(*this), view(other));
  non_negative_ = other.non_negative_;
  return *this;
}

Ball& Ball::operator=(Ball&& other) noexcept {
  std::swap(words_, other.words_);
  std::swap(non_negative_, other.non_negative_);
  return *this;
}

Ball::~Ball() { arb_clear(view(*this)); }

void Ball::set(std::int64_t value) {
  arb_set_si(view(*this), value);
  non_negative_ = value >= 0;
}

void Ball::set(long double value) {
  non_negative_ = value >= 0;
  arb_ptr ball = view(*this);
  if (static_cast<double>(value) == value) return arb_set_d(ball, static_cast<double>(value));
  if (std::isnan(value)) return arf_nan(arb_midref(ball));
  mpfr_t exact;
  mpfr_init2(exact, LDBL_MANT_DIG);
  mpfr_set_ld(exact, value, MPFR_RNDN);
  arf_set_mpfr(arb_midref(ball), exact);
  mpfr_clear(exact);
}

Ball operator+(const Ball& x, const Ball& y) {
  if (!finite(x) || !finite(y)) {
    const auto plain = [](const Ball& b) { return finite(b) ? 0 : sign_or_special(b); };
    return plain(x) + plain(y);
  }
  Ball sum;
  arb_add(view(sum), view(x), view(y), precision());
  return bounded(std::move(sum), known_not_negative(x) && known_not_negative(y), "a sum");
}

Ball operator-(const Ball& x) {
  Ball result;
  arb_neg(view(result), view(x));
  result.set_non_negative(arb_is_zero(view(x)));
  return result;
}

Ball operator-(const Ball& x, const Ball& y) {
  if (!finite(x) || !finite(y)) return x + -y;
  Ball difference;
  if (&x == &y) return difference;
  arb_sub(view(difference), view(x), view(y), precision());
  return bounded(std::move(difference), false, "a difference");
}

Ball operator*(const Ball& x, const Ball& y) {
  if (!finite(x) || !finite(y)) {
    if (is_nan(x) || is_nan(y)) return std::nan("");
    return sign_or_special(x) * sign_or_special(y);
  }
  Ball product;
  arb_mul(view(product), view(x), view(y), precision());
  return bounded(std::move(product), &x == &y || (known_not_negative(x) && known_not_negative(y)), "a product");
}

Ball operator/(const Ball& x, const Ball& y) {
  if (is_nan(x) || is_nan(y)) return std::nan("");
  if (!finite(y)) return finite(x) ? Ball(0) : Ball(std::nan(""));
  if (arb_is_zero(view(y))) return sign_or_special(x) / 0.0;
  if (!finite(x)) return sign_or_special(x) * sign_or_special(y);
  if (arb_contains_zero(view(y))) throw Undecided("a division by " + shown(y));
  Ball quotient;
  arb_div(view(quotient), view(x), view(y), precision());
  return bounded(std::move(quotient), known_not_negative(x) && known_not_negative(y), "a quotient");
}

bool operator<(const Ball& x, const Ball& y) {
  if (is_nan(x) || is_nan(y) || &x == &y) return false;
  if (two_points(x, y)) return arf_cmp(arb_midref(view(x)), arb_midref(view(y))) < 0;
  if (arb_lt(view(x), view(y))) return true;
  if (arb_ge(view(x), view(y))) return false;
  overlap(x, y);
}

bool operator<=(const Ball& x, const Ball& y) {
  if (is_nan(x) || is_nan(y)) return false;
  if (&x == &y) return true;
  if (two_points(x, y)) return arf_cmp(arb_midref(view(x)), arb_midref(view(y))) <= 0;
  if (arb_le(view(x), view(y))) return true;
  if (arb_gt(view(x), view(y))) return false;
  overlap(x, y);
}

bool operator==(const Ball& x, const Ball& y) {
  if (is_nan(x) || is_nan(y)) return false;
  if (&x == &y) return true;
  if (two_points(x, y)) return arb_equal(view(x), view(y)) != 0;
  if (!arb_overlaps(view(x), view(y))) return false;
  overlap(x, y);
}

bool surely_greater(const Ball& x, const Ball& y) { return arb_gt(view(x), view(y)) != 0; }

bool may_be_zero(const Ball& x) { return arb_contains_zero(view(x)) != 0; }

BitsScope::BitsScope(unsigned now) : before_(std::exchange(bits_in_force, now)) {}
BitsScope::~BitsScope() { bits_in_force = before_; }
unsigned ball_bits() { return bits_in_force; }

namespace {

/// f of a number: Arb's of a finite one, libm's of NaN and the infinities, where its value is exact.
template <class F>
Ball applied(F&& function, double (*special)(double), const Ball& x, bool non_negative, const char* name) {
  if (!finite(x)) return special(sign_or_special(x));
  Ball result;
  function(view(result), view(x), precision());
  return bounded(std::move(result), non_negative, name);
}

}  // namespace

Ball exp(const Ball& x) { return applied(arb_exp, std::exp, x, true, "exp"); }
Ball log1p(const Ball& x) { return applied(arb_log1p, std::log1p, x, known_not_negative(x), "log1p"); }
Ball tanh(const Ball& x) { return applied(arb_tanh, std::tanh, x, known_not_negative(x), "tanh"); }
Ball cosh(const Ball& x) { return applied(arb_cosh, std::cosh, x, true, "cosh"); }
Ball cos(const Ball& x) { return applied(arb_cos, std::cos, x, false, "cos"); }
Ball sin(const Ball& x) { return applied(arb_sin, std::sin, x, false, "sin"); }
Ball erf(const Ball& x) { return applied(arb_hypgeom_erf, std::erf, x, known_not_negative(x), "erf"); }
Ball erfc(const Ball& x) { return applied(arb_hypgeom_erfc, std::erfc, x, true, "erfc"); }

Ball sqrt(const Ball& x) {
  if (finite(x) && arb_is_negative(view(x))) return std::nan("");
  if (finite(x) && !known_not_negative(x)) throw Undecided("the root of " + shown(x));
  return applied(arb_sqrtpos, std::sqrt, x, true, "a root");
}

Ball magnitude(const Ball& x) {
  Ball result;
  arb_abs(view(result), view(x));
  result.set_non_negative(true);
  return result;
}

bool is_nan(const Ball& x) { return arf_is_nan(arb_midref(view(x))) != 0; }
bool is_finite(const Ball& x) { return finite(x); }

std::int64_t to_integer(const Ball& x) {
  if (!is_point(x) || !arf_is_int(arb_midref(view(x)))) throw std::logic_error("no integer: " + shown(x));
  return arf_get_si(arb_midref(view(x)), ARF_RND_NEAR);
}

Ball power(const Ball& x, std::int64_t n) {
  if (!finite(x)) return std::pow(sign_or_special(x), static_cast<double>(n));
  Ball result;
  arb_pow_ui(view(result), view(x), static_cast<ulong>(n), precision());
  return bounded(std::move(result), known_not_negative(x), "a power");
}

Ball larger(const Ball& x, const Ball& y) {
  if (is_nan(x) || is_nan(y)) return std::nan("");
  if (!finite(x) || !finite(y)) return surely_greater(x, y) ? x : y;
  Ball result;
  arb_max(view(result), view(x), view(y), precision());
  return bounded(std::move(result), known_not_negative(x) || known_not_negative(y), "the larger");
}

Ball smaller(const Ball& x, const Ball& y) {
  if (is_nan(x) || is_nan(y)) return std::nan("");
  if (!finite(x) || !finite(y)) return surely_greater(x, y) ? y : x;
  Ball result;
  arb_min(view(result), view(x), view(y), precision());
  return bounded(std::move(result), known_not_negative(x) && known_not_negative(y), "the smaller");
}

Ball pi_ball() {
  Ball result;
  arb_const_pi(view(result), precision());
  return result;
}

}  // namespace tally::oracle
