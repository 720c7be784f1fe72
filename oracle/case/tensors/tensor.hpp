// A tensor as the case stores it, the formats of its elements, and the bits of a float.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/tensors/bytes.hpp"

namespace tally {

// A tensor as the case stores it: exact bits, a shape, and where the bits were drawn from.

enum class Dtype { fp32, fp16, bf16, i64, u8 };

/// Bytes of one element.
std::size_t size_of(Dtype dtype);
/// The word used in files: "fp32", "fp16", "bf16", "i64", "u8".
std::string_view name_of(Dtype dtype);
/// The inverse of name_of; nullopt for any other word.
std::optional<Dtype> dtype_of(std::string_view name);

/// A frozen counter-based function that made a tensor's values: drawing `number` with `seed` in `family`.
/// Numbers never change their meaning, so an old token keeps giving the same bits.
struct Drawing {
  int number = 1;
  std::uint64_t seed = 0;
  std::string family;
  friend bool operator==(const Drawing&, const Drawing&) = default;
};

/// Row-major bits, little endian. A scalar has the empty shape and one element.
struct Tensor {
  Dtype dtype = Dtype::fp32;
  std::vector<std::int64_t> shape;
  Bytes bytes;
  std::optional<Drawing> drawing;  // set when the bytes are exactly what it draws

  Tensor() = default;
  /// A tensor of zeros. Throws std::length_error above 2^40 bytes, before memory is taken.
  Tensor(Dtype dtype, std::vector<std::int64_t> shape);
  /// With these bytes, as many as the shape says.
  Tensor(Dtype dtype, std::vector<std::int64_t> shape, Bytes bytes);

  std::size_t elements() const;
  /// Element i (row-major) as a double; exact for every dtype but i64 beyond 2^53.
  double value(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  /// Raw bits of element i, zero-extended.
  std::uint64_t bits(std::size_t i) const;
  void set_bits(std::size_t i, std::uint64_t bits);
  /// Stores `value` rounded to nearest even in the dtype (integers: exactly).
  void set(std::size_t i, double value);

  /// Equal dtype, shape and bits; the drawing does not count.
  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
  }
};

/// Rows [first, first + count) of a tensor whose first dimension counts rows.
Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count);

/// Elements of a shape (1 for the empty shape). Throws std::length_error when a size is negative or the product
/// exceeds 2^40.
std::size_t elements_of(const std::vector<std::int64_t>& shape);

/// "[16, 8]".
std::string to_string(const std::vector<std::int64_t>& shape);
/// "fp32 [2, 3]", as a message shows it; a long shape shortened.
std::string described(Dtype dtype, const std::vector<std::int64_t>& shape);

// The element types of tensors, one row each: whoever needs a format's bits, its range, its names or the list of
// formats that serve a purpose asks here.
//
// A format is added as a Dtype, a row, and the type that kernels have for it (kernels/device/half.hpp). Whatever cannot
// take it yet says so by unsupported_format().

/// What a finite number beyond the largest becomes, and an infinity with it.
enum class Overflow { to_infinity, to_largest, to_nan };

/// What a case may use a format for: the keys of its `precision`.
struct FormatUses {
  bool storage = false, compute = false, accumulate = false, master = false;
};

/// An IEEE-like format: sign, exponent, fraction, subnormal numbers below 2^emin. Integers have p = 0.
struct FormatRow {
  Dtype dtype;
  std::string_view name;         // in cases, results and options
  std::string_view safetensors;  // in safetensors files
  int bytes;
  int p = 0;                   // bits of the significand, the hidden one among them
  int emin = 0, emax = 0;      // exponents of the smallest normal number and of the largest
  bool has_infinities = true;  // false: the last exponent holds numbers too, and all ones are the one NaN
  Overflow overflow = Overflow::to_infinity;
  FormatUses uses = {};

  constexpr bool is_float() const { return p != 0; }
  constexpr bool has_range_of_fp32() const { return emin == -126 && emax == 127; }

  constexpr double smallest_normal() const { return power_of_two(emin); }
  constexpr double smallest_subnormal() const { return power_of_two(emin - p + 1); }
  constexpr double largest() const {
    return static_cast<double>((1 << p) - (has_infinities ? 1 : 2)) * power_of_two(emax - p + 1);
  }

  /// Encodings without their sign: consecutive ones are consecutive numbers.
  constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (8 * bytes - 1); }
  constexpr std::uint64_t all_ones() const { return sign_bit() - 1; }  // a NaN in every format
  constexpr std::uint64_t infinity() const { return static_cast<std::uint64_t>(emax - emin + 2) << (p - 1); }
  constexpr std::uint64_t largest_bits() const { return has_infinities ? infinity() - 1 : all_ones() - 1; }
  constexpr std::uint64_t quiet_nan() const {
    return has_infinities ? infinity() | std::uint64_t{1} << (p - 2) : all_ones();
  }
  constexpr std::uint64_t overflow_bits() const {
    return overflow == Overflow::to_infinity  ? infinity()
           : overflow == Overflow::to_largest ? largest_bits()
                                              : quiet_nan();
  }

  /// 2^exponent, from the smallest normal binary64 to the largest.
  static constexpr double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }
};

/// In the order of Dtype. Seeds and reports depend on the order of floating-point formats: a new one is their last.
inline constexpr std::array<FormatRow, 5> format_rows{{
    {Dtype::fp32, "fp32", "F32", 4, 24, -126, 127, true, Overflow::to_infinity, {true, true, true, true}},
    {Dtype::fp16, "fp16", "F16", 2, 11, -14, 15, true, Overflow::to_infinity, {true, true, true, true}},
    {Dtype::bf16, "bf16", "BF16", 2, 8, -126, 127, true, Overflow::to_infinity, {true, false, true, true}},
    {Dtype::i64, "i64", "I64", 8},
    {Dtype::u8, "u8", "U8", 1},
}};

/// Throws std::out_of_range for what is no Dtype.
constexpr const FormatRow& format_row(Dtype dtype) { return format_rows.at(static_cast<std::size_t>(dtype)); }

/// The bits of the significand of the table's next narrower format; half of its own for the narrowest.
constexpr int next_narrower(int p) {
  int found = 0;
  for (const FormatRow& row : format_rows)
    if (row.p < p && row.p > found) found = row.p;
  return found != 0 ? found : p / 2;
}

/// The formats that a case may use so, in the table's order: formats_for(&FormatUses::master).
std::vector<Dtype> formats_for(bool FormatUses::*use);
const std::vector<Dtype>& storage_formats();

/// "fp32, fp16, bf16" as words.
std::vector<std::string> names_of(const std::vector<Dtype>& formats);
/// The names of all rows.
std::vector<std::string> dtype_names();

/// The error of a place that has nothing for a format: "kernels/x.cpp:7: no <missing> for fp32".
std::invalid_argument unsupported_format(Dtype dtype, std::string_view missing,
                                         std::source_location at = std::source_location::current());

// Bits of floating-point formats, converted without any intermediate rounding.

/// The bits of `value` rounded to nearest even, subnormal numbers included; of too large a value and of an infinity
/// what the format's row says.
std::uint64_t float_bits_of(const FormatRow& row, double value);
/// The same of a Dtype. Throws std::logic_error for an integer.
std::uint64_t float_bits_of(Dtype dtype, double value);

/// The value those bits stand for, exactly.
double float_value_of(const FormatRow& row, std::uint64_t bits);
/// The same of a Dtype. Throws std::logic_error for an integer.
double float_value_of(Dtype dtype, std::uint64_t bits);

}  // namespace tally
