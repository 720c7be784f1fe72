#include "oracle/case/decimal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "oracle/case/limits.hpp"

namespace tally {
namespace {

constexpr std::int64_t exponent_limit = 300;

/// Reads JSON's number grammar from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool accept(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view digits() {
    const auto length = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const std::string_view found = text_.substr(0, length);
    text_.remove_prefix(length);
    return found;
  }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

std::optional<std::int64_t> written_exponent(Scanner& scanner) {
  const bool negative = scanner.accept('-');
  if (!negative) scanner.accept('+');
  std::string_view digits = scanner.digits();
  if (digits.empty()) return std::nullopt;
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() > 3) return std::nullopt;
  std::int64_t value = 0;
  for (const char d : digits) value = value * 10 + (d - '0');
  if (value > exponent_limit) return std::nullopt;
  return negative ? -value : value;
}

DecimalParts normalised(bool negative, std::string_view whole, std::string_view fraction, std::int64_t exponent) {
  std::string digits = std::string(whole) + std::string(fraction);
  exponent += static_cast<std::int64_t>(whole.size());
  const auto leading = digits.find_first_not_of('0');
  if (leading == std::string::npos) return {negative, {}, 0};
  digits.erase(digits.find_last_not_of('0') + 1);
  return {negative, digits.substr(leading), exponent - static_cast<std::int64_t>(leading)};
}

DecimalParts valid_parts(std::string_view text) {
  auto parts = decimal_parts(text);
  if (!parts) throw std::logic_error("\"" + std::string(text.substr(0, 40)) + "\" is no decimal number");
  return *std::move(parts);
}

}  // namespace

std::optional<DecimalParts> decimal_parts(std::string_view text) {
  if (text.size() > longest_number) return std::nullopt;
  Scanner scanner(text);
  const bool negative = scanner.accept('-');
  const std::string_view whole = scanner.digits();
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
  std::string_view fraction;
  if (scanner.accept('.')) {
    fraction = scanner.digits();
    if (fraction.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (scanner.accept('e') || scanner.accept('E')) {
    const auto written = written_exponent(scanner);
    if (!written) return std::nullopt;
    exponent = *written;
  }
  if (!scanner.at_end()) return std::nullopt;
  DecimalParts parts = normalised(negative, whole, fraction, exponent);
  const std::int64_t scientific = parts.exponent - 1;
  if (!parts.digits.empty() && (scientific > exponent_limit || scientific < -exponent_limit)) return std::nullopt;
  return parts;
}

std::strong_ordering compare(const DecimalParts& a, const DecimalParts& b) {
  const auto sign = [](const DecimalParts& d) { return d.digits.empty() ? 0 : d.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  if (sign(a) == 0) return std::strong_ordering::equal;
  const auto magnitude = a.exponent != b.exponent ? a.exponent <=> b.exponent : a.digits.compare(b.digits) <=> 0;
  return sign(a) > 0 ? magnitude : 0 <=> magnitude;
}

std::strong_ordering compare_decimals(std::string_view a, std::string_view b) {
  return compare(valid_parts(a), valid_parts(b));
}

double nearest_double(std::string_view text) {
  valid_parts(text);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool equals(const DecimalParts& decimal, double value) {
  std::array<char, 1200> buffer;  // a binary64 has at most 767 significant digits
  const auto end = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific, 800).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.begin()));
  const auto e = text.find('e');
  if (e == std::string_view::npos) return false;
  const bool negative = text.front() == '-';
  const std::size_t first = negative ? 1 : 0;
  int exponent = 0;
  const char* digits = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits, end, exponent);
  const DecimalParts exact =
      normalised(negative, text.substr(first, 1), text.substr(first + 2, e - first - 2), exponent);
  return compare(decimal, exact) == 0;
}

std::optional<std::int64_t> exact_integer(std::string_view text) {
  const auto parts = decimal_parts(text);
  if (!parts) return std::nullopt;
  if (parts->digits.empty()) return 0;
  const auto length = static_cast<std::int64_t>(parts->digits.size());
  if (parts->exponent < length || parts->exponent > 19) return std::nullopt;
  std::string whole = (parts->negative ? "-" : "") + parts->digits;
  whole.append(static_cast<std::size_t>(parts->exponent - length), '0');
  std::int64_t value = 0;
  const auto result = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace tally
