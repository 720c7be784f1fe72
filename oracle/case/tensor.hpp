// A tensor as the case stores it: exact bits, a shape, and where the bits were drawn from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/bytes.hpp"

namespace tally {

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

/// Elements of a shape (1 for the empty shape). Throws std::length_error when a size is negative or the product
/// exceeds 2^40.
std::size_t elements_of(const std::vector<std::int64_t>& shape);

/// "[16, 8]".
std::string to_string(const std::vector<std::int64_t>& shape);
/// "fp32 [2, 3]", as a message shows it; a long shape shortened.
std::string described(Dtype dtype, const std::vector<std::int64_t>& shape);

}  // namespace tally
