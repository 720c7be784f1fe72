#include "reports/text/numbers.hpp"

#include <charconv>
#include <cmath>

namespace tally {
namespace {

template <class... How>
std::string text_of(double value, How... how) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, how...).ptr};
}

/// Empty for a finite value.
std::string word_of_non_finite(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return "";
}

}  // namespace

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t n, const char* of) { return grouped(n) + " " + of + (n == 1 ? "" : "s"); }

std::string significant(double value) {
  if (!std::isfinite(value)) return word_of_non_finite(value);
  const double size = std::fabs(value), last = 0x1p-20;  // about 1e-6
  if (size == 1) return text_of(value);
  if (std::fabs(size - 1) < last) return (value < 0 ? "-" : "") + std::string(size < 1 ? "0.999999" : "1.000001");
  std::string text = text_of(value, std::chars_format::general, 3);
  for (int digits = 4; text == "1" || text == "-1"; ++digits) text = text_of(value, std::chars_format::general, digits);
  return text;
}

std::string power_of_ten(double log10) {
  constexpr double least = -1000;
  return log10 >= least ? "1e" + coordinate(log10) : "< 1e-1000";
}

std::string shortest(double value) { return std::isfinite(value) ? text_of(value) : word_of_non_finite(value); }

std::string hexadecimal_text(double value) {
  if (!std::isfinite(value)) return word_of_non_finite(value);
  const std::string digits = text_of(std::fabs(value), std::chars_format::hex);
  return (std::signbit(value) ? "-0x" : "0x") + digits;
}

std::string percent(double share) {
  if (!std::isfinite(share)) return word_of_non_finite(share);
  return text_of(share * 100, std::chars_format::fixed, 2) + " %";
}

std::string coordinate(double value) {
  std::string text = text_of(value, std::chars_format::fixed, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace tally
