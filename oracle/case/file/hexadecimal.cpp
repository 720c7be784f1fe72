#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "oracle/case/file/parts.hpp"

namespace tally {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// mantissa * 2^exponent; `exact` turns false when digits beyond 64 bits are not zero.
struct Mantissa {
  std::uint64_t value = 0;
  std::int64_t exponent = 0;
  bool any = false, exact = true;

  void append(int digit, bool fraction) {
    any = true;
    if (value >> 60 == 0) {
      value = value << 4 | static_cast<std::uint64_t>(digit);
      exponent -= fraction ? 4 : 0;
    } else {
      exact = exact && digit == 0;
      exponent += fraction ? 0 : 4;
    }
  }
};

Mantissa read_mantissa(std::string_view& text) {
  Mantissa mantissa;
  bool fraction = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.front() == '.' && !fraction)
      fraction = true;
    else if (const int digit = digit_of(text.front()); digit >= 0)
      mantissa.append(digit, fraction);
    else
      break;
  }
  return mantissa;
}

std::optional<std::int64_t> read_exponent(std::string_view text) {
  if (text.empty() || (text.front() != 'p' && text.front() != 'P')) return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with("+-")) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return exponent;
}

}  // namespace

std::optional<double> hexadecimal_value(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  if (text.size() < 2 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return std::nullopt;
  text.remove_prefix(2);
  Mantissa mantissa = read_mantissa(text);
  const auto exponent = read_exponent(text);
  if (!mantissa.any || !mantissa.exact || !exponent) return std::nullopt;
  if (mantissa.value == 0) return negative ? -0.0 : 0.0;
  const int zeros = std::countr_zero(mantissa.value);
  const std::uint64_t odd = mantissa.value >> zeros;
  const std::int64_t power = mantissa.exponent + zeros + *exponent;
  const std::int64_t top = power + static_cast<std::int64_t>(std::bit_width(odd)) - 1;
  if (std::bit_width(odd) > 53 || power < -1074 || top > 1023) return std::nullopt;
  const double value = std::ldexp(static_cast<double>(odd), static_cast<int>(power));
  return negative ? -value : value;
}

std::string hexadecimal(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.begin(), buffer.end(), std::fabs(value), std::chars_format::hex).ptr;
  return std::string(std::signbit(value) ? "-0x" : "0x") + std::string(buffer.begin(), end);
}

}  // namespace tally
