#include "oracle/case/float_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tally {
namespace {

/// A format with an exponent field and a fraction field below one sign bit.
struct Layout {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int lowest_exponent() const { return 1 - bias(); }
  std::uint64_t infinity() const { return ((1ull << exponent_bits) - 1) << fraction_bits; }
  std::uint64_t sign() const { return 1ull << (exponent_bits + fraction_bits); }
};

Layout layout_of(Dtype dtype) {
  if (dtype == Dtype::fp32) return {8, 23};
  if (dtype == Dtype::fp16) return {5, 10};
  if (dtype == Dtype::bf16) return {8, 7};
  throw std::logic_error("an integer dtype has no float layout");
}

/// |value| counted in units of the last place, to nearest even; the encoding of consecutive floats is consecutive, so
/// a carry out of the fraction lands in the exponent by itself.
std::uint64_t magnitude_bits(const Layout& layout, double magnitude) {
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), layout.lowest_exponent());
  if (exponent > layout.bias()) return layout.infinity();
  const double units = std::nearbyint(std::ldexp(magnitude, layout.fraction_bits - exponent));
  const auto above_lowest = static_cast<std::uint64_t>(exponent - layout.lowest_exponent());
  const std::uint64_t encoded = (above_lowest << layout.fraction_bits) + static_cast<std::uint64_t>(units);
  return std::min(encoded, layout.infinity());
}

}  // namespace

std::uint64_t float_bits_of(Dtype dtype, double value) {
  const Layout layout = layout_of(dtype);
  const std::uint64_t sign = std::signbit(value) ? layout.sign() : 0;
  if (std::isnan(value)) return sign | layout.infinity() | (1ull << (layout.fraction_bits - 1));
  if (std::isinf(value)) return sign | layout.infinity();
  return sign | magnitude_bits(layout, std::fabs(value));
}

double float_value_of(Dtype dtype, std::uint64_t bits) {
  const Layout layout = layout_of(dtype);
  const double sign = (bits & layout.sign()) != 0 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & (layout.sign() - 1);
  if (magnitude > layout.infinity()) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (magnitude == layout.infinity()) return sign * std::numeric_limits<double>::infinity();
  if (dtype == Dtype::fp32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const std::uint64_t fraction = magnitude & ((1ull << layout.fraction_bits) - 1);
  const auto field = static_cast<int>(magnitude >> layout.fraction_bits);
  const std::uint64_t units = field == 0 ? fraction : fraction | (1ull << layout.fraction_bits);
  const int exponent = std::max(field, 1) - layout.bias() - layout.fraction_bits;
  return sign * std::ldexp(static_cast<double>(units), exponent);
}

}  // namespace tally
