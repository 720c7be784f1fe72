#include "properties/studies/wording.hpp"

#include <cmath>
#include <cstdio>

namespace tally {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string three_digits(double value) { return formatted("%.3g", value); }

std::string exponent_text(const Fit& fit) {
  if (std::isnan(fit.slope)) return "(too few points)";
  return formatted("%.2f (95 %%: %.2f to %.2f)", fit.slope, fit.interval.low, fit.interval.high);
}

std::string power_of_two_text(double value) {
  int exponent = 0;
  const bool power = std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5;
  return power ? "2^" + std::to_string(exponent - 1) : three_digits(value);
}

}  // namespace tally
