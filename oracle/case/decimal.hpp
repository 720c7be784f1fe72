// Decimal numbers as text, compared and converted exactly. Nothing here rounds but nearest_double.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

/// A decimal taken apart: (-1)^negative * 0.d1 d2 d3 ... * 10^exponent with d1 and the last digit not 0; zero has no
/// digits. Two decimals are equal when their parts are, zeros of either sign being one value.
struct DecimalParts {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
};

/// The parts of a number in JSON's grammar; nullopt for other text, or where the value lies outside 10^-300 ... 10^300
/// or its written exponent outside +-300.
std::optional<DecimalParts> decimal_parts(std::string_view text);

std::strong_ordering compare(const DecimalParts& a, const DecimalParts& b);
/// Both texts must be valid; throws std::logic_error otherwise.
std::strong_ordering compare_decimals(std::string_view a, std::string_view b);

/// The binary64 nearest to a valid decimal text; throws std::logic_error otherwise.
double nearest_double(std::string_view text);
/// Whether the decimal is exactly this finite binary64.
bool equals(const DecimalParts& decimal, double value);
/// The integer that the decimal is (also written 1e3 or 4.0); nullopt when it is none or exceeds 64 bits.
std::optional<std::int64_t> exact_integer(std::string_view text);

}  // namespace tally
