#include "oracle/case/element.hpp"

#include <charconv>
#include <cmath>

#include "oracle/case/decimal.hpp"
#include "oracle/case/float_bits.hpp"

namespace tally {
namespace {

/// Up to 15 digits and no exponent: such an integer is exactly its binary64.
bool is_short_integer(std::string_view text) {
  return text.size() <= 15 && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

std::optional<double> exact_double(const Json& element) {
  if (element.is(Json::Kind::string)) return hexadecimal_value(element.text);
  if (!element.is(Json::Kind::number)) return std::nullopt;
  const auto parts = decimal_parts(element.text);
  if (!parts) return std::nullopt;
  const double value = nearest_double(element.text);
  if (is_short_integer(element.text) || equals(*parts, value)) return value;
  return std::nullopt;
}

std::optional<std::int64_t> exact_whole(const Json& element) {
  if (element.is(Json::Kind::number)) return exact_integer(element.text);
  const auto value = exact_double(element);
  if (!value || !(std::fabs(*value) < 0x1p62) || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

std::optional<std::uint64_t> exact_bits(Dtype dtype, const Json& element) {
  if (dtype == Dtype::i64 || dtype == Dtype::u8) {
    const auto whole = exact_whole(element);
    if (!whole || (dtype == Dtype::u8 && (*whole < 0 || *whole > 255))) return std::nullopt;
    return static_cast<std::uint64_t>(*whole);
  }
  const auto value = exact_double(element);
  if (!value) return std::nullopt;
  const std::uint64_t bits = float_bits_of(dtype, *value);
  if (float_value_of(dtype, bits) != *value) return std::nullopt;
  return bits;
}

Json canonical_element(const Tensor& tensor, std::size_t i) {
  if (tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8)
    return Json::of_number(std::to_string(tensor.integer(i)));
  return Json::of_string(hexadecimal(tensor.value(i)));
}

void append_canonical(std::string& text, const Tensor& tensor, std::size_t i) {
  const bool whole = tensor.dtype == Dtype::i64 || tensor.dtype == Dtype::u8;
  if (whole) {
    text += std::to_string(tensor.integer(i));
    return;
  }
  text += '"';
  text += hexadecimal(tensor.value(i));
  text += '"';
}

}  // namespace tally
