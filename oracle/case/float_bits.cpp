#include "oracle/case/float_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tally {
namespace {

const FormatRow& float_row(Dtype dtype) {
  const FormatRow& row = format_row(dtype);
  if (!row.is_float()) throw std::logic_error("the integer " + std::string(row.name) + " has no bits of a float");
  return row;
}

/// |value| counted in units of the last place, to nearest even; a carry out of the fraction lands in the exponent by
/// itself.
std::uint64_t magnitude_bits(const FormatRow& row, double magnitude) {
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), row.emin);
  if (exponent > row.emax) return row.overflow_bits();
  const double units = std::nearbyint(std::ldexp(magnitude, row.p - 1 - exponent));
  const auto above_lowest = static_cast<std::uint64_t>(exponent - row.emin);
  const std::uint64_t encoded = (above_lowest << (row.p - 1)) + static_cast<std::uint64_t>(units);
  return encoded > row.largest_bits() ? row.overflow_bits() : encoded;
}

}  // namespace

std::uint64_t float_bits_of(const FormatRow& row, double value) {
  const std::uint64_t sign = std::signbit(value) ? row.sign_bit() : 0;
  if (std::isnan(value)) return sign | row.quiet_nan();
  if (std::isinf(value)) return sign | row.overflow_bits();
  return sign | magnitude_bits(row, std::fabs(value));
}

double float_value_of(const FormatRow& row, std::uint64_t bits) {
  const double sign = (bits & row.sign_bit()) != 0 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & row.all_ones();
  if (magnitude > row.largest_bits()) {
    const bool infinite = row.has_infinities && magnitude == row.infinity();
    return std::copysign(infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN(),
                         sign);
  }
  if (row.dtype == Dtype::fp32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const std::uint64_t hidden = std::uint64_t{1} << (row.p - 1), fraction = magnitude & (hidden - 1);
  const auto field = static_cast<int>(magnitude >> (row.p - 1));
  const int exponent = std::max(field, 1) - 1 + row.emin;
  return sign * static_cast<double>(field == 0 ? fraction : fraction | hidden) *
         FormatRow::power_of_two(exponent - row.p + 1);
}

std::uint64_t float_bits_of(Dtype dtype, double value) { return float_bits_of(float_row(dtype), value); }

double float_value_of(Dtype dtype, std::uint64_t bits) { return float_value_of(float_row(dtype), bits); }

}  // namespace tally
