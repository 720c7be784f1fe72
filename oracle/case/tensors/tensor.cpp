// A tensor as the case stores it, the formats of its elements, and the bits of a float.
#include "oracle/case/tensors/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "oracle/case/file/json.hpp"

namespace tally {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 40;

}  // namespace

std::size_t size_of(Dtype dtype) { return static_cast<std::size_t>(format_row(dtype).bytes); }
std::string_view name_of(Dtype dtype) { return format_row(dtype).name; }

std::optional<Dtype> dtype_of(std::string_view name) {
  for (const FormatRow& row : format_rows)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

std::size_t elements_of(const std::vector<std::int64_t>& shape) {
  std::size_t product = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) throw std::length_error("shape " + to_string(shape) + " has a negative size");
    empty = empty || size == 0;
    const auto factor = static_cast<std::size_t>(size == 0 ? 1 : size);
    if (factor > most_bytes / product) throw std::length_error("shape " + to_string(shape) + " exceeds 2^40 elements");
    product *= factor;
  }
  return empty ? 0 : product;
}

std::string to_string(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

Tensor::Tensor(Dtype dtype_, std::vector<std::int64_t> shape_) : dtype(dtype_), shape(std::move(shape_)) {
  const std::size_t count = elements_of(shape);
  if (count > most_bytes / size_of(dtype)) throw std::length_error("shape " + to_string(shape) + " exceeds 2^40 bytes");
  bytes = std::vector<std::byte>(count * size_of(dtype));
}

Tensor::Tensor(Dtype dtype_, std::vector<std::int64_t> shape_, Bytes bytes_)
    : dtype(dtype_), shape(std::move(shape_)), bytes(std::move(bytes_)) {}

Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = tensor.shape;
  const std::int64_t all = shape.at(0);
  shape[0] = count;
  Tensor cut(tensor.dtype, std::move(shape));
  const std::size_t bytes_a_row = all == 0 ? 0 : tensor.bytes.size() / static_cast<std::size_t>(all);
  const auto begin = static_cast<std::size_t>(first) * bytes_a_row;
  if (!cut.bytes.empty()) std::memcpy(cut.bytes.data(), tensor.bytes.data() + begin, cut.bytes.size());
  return cut;
}

std::size_t Tensor::elements() const { return bytes.size() / size_of(dtype); }

std::uint64_t Tensor::bits(std::size_t i) const {
  const std::size_t width = size_of(dtype);
  if (dtype == Dtype::fp32 && std::endian::native == std::endian::little && i < bytes.size() / 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + 4 * i, 4);
    return word;
  }
  std::uint64_t all = 0;
  for (std::size_t b = width; b-- > 0;) all = all << 8 | std::to_integer<std::uint64_t>(bytes.at(i * width + b));
  return all;
}

void Tensor::set_bits(std::size_t i, std::uint64_t bits) {
  const std::size_t width = size_of(dtype);
  std::vector<std::byte>& own = bytes.own();
  for (std::size_t b = 0; b < width; ++b) own.at(i * width + b) = static_cast<std::byte>(bits >> (8 * b) & 0xff);
}

double Tensor::value(std::size_t i) const {
  if (!format_row(dtype).is_float()) return static_cast<double>(integer(i));
  return float_value_of(dtype, bits(i));
}

std::int64_t Tensor::integer(std::size_t i) const {
  if (format_row(dtype).is_float()) throw std::logic_error("integer() of a float tensor");
  return static_cast<std::int64_t>(bits(i));
}

void Tensor::set(std::size_t i, double value) {
  if (!format_row(dtype).is_float()) {
    const bool fits = dtype == Dtype::u8 ? value >= 0 && value <= 255 : value >= -0x1p63 && value < 0x1p63;
    const std::int64_t whole = fits ? static_cast<std::int64_t>(value) : 0;
    if (!fits || static_cast<double>(whole) != value)
      throw std::range_error(std::to_string(value) + " is no " + std::string(name_of(dtype)));
    set_bits(i, static_cast<std::uint64_t>(whole));
  } else {
    set_bits(i, float_bits_of(dtype, value));
  }
}

std::string described(Dtype dtype, const std::vector<std::int64_t>& shape) {
  return std::string(name_of(dtype)) + " " + shortened(to_string(shape));
}

std::vector<Dtype> formats_for(bool FormatUses::*use) {
  std::vector<Dtype> found;
  for (const FormatRow& row : format_rows)
    if (row.uses.*use) found.push_back(row.dtype);
  return found;
}

const std::vector<Dtype>& storage_formats() {
  static const std::vector<Dtype> formats = formats_for(&FormatUses::storage);
  return formats;
}

std::vector<std::string> names_of(const std::vector<Dtype>& formats) {
  std::vector<std::string> names;
  for (const Dtype format : formats) names.emplace_back(name_of(format));
  return names;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const FormatRow& row : format_rows) names.emplace_back(row.name);
  return names;
}

std::invalid_argument unsupported_format(Dtype dtype, std::string_view missing, std::source_location at) {
  return std::invalid_argument(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": no " +
                               std::string(missing) + " for " + std::string(name_of(dtype)));
}

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
