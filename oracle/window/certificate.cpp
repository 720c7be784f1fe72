#include "oracle/window/certificate.hpp"

#include <algorithm>

#include "oracle/real/decimal_text.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/window/answer.hpp"

namespace tally::oracle {
namespace {

constexpr unsigned guard_digits = 20, smallest_step = 100;
constexpr int doublings = 6;

}  // namespace

std::vector<unsigned> precisions(unsigned digits) {
  std::vector<unsigned> all{digits + guard_digits};
  for (int i = 0; i <= doublings; ++i) all.push_back(std::max(2 * all.back(), all.back() + smallest_step));
  return all;
}

Certificate::Certificate(unsigned digits) : digits_(digits), scale_(power(Real(10), digits)) {}

std::string Certificate::text(const Real& coarse, const Real& fine, const Real& largest,
                              const std::string& place) const {
  const std::string rounded = decimal_text(fine, digits_);
  if (!is_finite(coarse) || !is_finite(fine)) {
    if (decimal_text(coarse, digits_) == rounded) return rounded;
  } else {
    const Real change = magnitude(coarse - fine), size = magnitude(fine);
    if (4 * scale_ * change <= size) return rounded;
    if (2 * scale_ * (size + change) <= magnitude(largest)) return "0";
  }
  throw NotCertified(place + ": " + decimal_text(coarse, digits_) + " and " + rounded +
                     " at two precisions; expected agreement to " + std::to_string(digits_) + " digits");
}

}  // namespace tally::oracle
