#include "oracle/case/tensor.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "oracle/case/float_bits.hpp"
#include "oracle/case/json_form.hpp"

namespace tally {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 40;

bool is_integer(Dtype dtype) { return !format_row(dtype).is_float(); }

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
  if (is_integer(dtype)) return static_cast<double>(integer(i));
  return float_value_of(dtype, bits(i));
}

std::int64_t Tensor::integer(std::size_t i) const {
  if (!is_integer(dtype)) throw std::logic_error("integer() of a float tensor");
  return static_cast<std::int64_t>(bits(i));
}

void Tensor::set(std::size_t i, double value) {
  if (is_integer(dtype)) {
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

}  // namespace tally
