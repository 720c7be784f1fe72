#include "oracle/real/decimal_text.hpp"

#include <cstdlib>

#include "oracle/real/functions.hpp"

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

}  // namespace tally::oracle
