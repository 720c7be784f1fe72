#include <arb_hypgeom.h>

#include <cmath>

#include "oracle/real/ball_view.hpp"

namespace tally::oracle {
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
