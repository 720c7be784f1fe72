// Matrices in fixed point: the format, how they are made from floats, and sums over their lines.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "oracle/real/number.hpp"

namespace tally::oracle::fixed {

// The fixed-point format: whole numbers of 52 L bits, in L limbs of 52 (what AVX-512 IFMA multiplies), L = 3, 5 or 7.
// A number A with -2^h <= A < 2^h, h = 52 L - 1, is held as X = A + 2^h, so that no limb has a sign.

constexpr int limb_bits = 52;
constexpr std::uint64_t limb_mask = (std::uint64_t{1} << limb_bits) - 1;
/// 2^h in units of the highest limb.
constexpr std::uint64_t top_half = std::uint64_t{1} << (limb_bits - 1);
/// The most terms of one element of a product.
constexpr std::int64_t most_terms = std::int64_t{1} << 20;

/// h: every number is at most 2^h in magnitude.
constexpr int magnitude_bits(int limbs) { return limb_bits * limbs - 1; }

/// ceil(log2 terms), 0 for none.
constexpr int bits_of_terms(std::int64_t terms) {
  return terms < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(terms - 1)));
}

/// g: how far the fast routes' own errors stay below half a unit of a product (oracle/fixed.md).
constexpr int guard_bits = 20;
/// d: an element of a product is the whole number nearest to its exact sum of `terms` products over 2^d.
constexpr int dropped_bits(int limbs, std::int64_t terms) {
  return magnitude_bits(limbs) + guard_bits + bits_of_terms(terms);
}
/// The error of a product of exact operands is at most 2^-bits of (terms 2^h 2^h), the most that an element can be.
constexpr int certified_bits(int limbs) { return magnitude_bits(limbs) - guard_bits; }
static_assert(certified_bits(3) >= 113 + 2 && certified_bits(5) >= 237 + 2 && certified_bits(7) >= 332 + 2,
              "2 bits for scales that are powers of two");

// Matrices in fixed point, and how they are made from floats.
//
// Element (i, j) stands for A 2^(row_exponent[i] + column_exponent[j]), A the signed whole number that matrix.hpp
// describes, and differs from what it was computed from by at most
//   (row_radius[i] + column_radius[j]) 2^(row_exponent[i] + column_exponent[j]).
// A left operand has all its scales and radii in the rows, a right operand in the columns; the other side is zero.

/// Where the scales of an operand are.
enum class Scaled { by_rows, by_columns };

/// Words that a vector of them leaves as its memory was until they are set: no thread but theirs need touch them.
struct UnsetWords : std::allocator<std::uint64_t> {
  template <class U>
  struct rebind {
    using other = UnsetWords;
  };
  void construct(std::uint64_t* at) { ::new (static_cast<void*>(at)) std::uint64_t; }
  template <class... Values>
  void construct(std::uint64_t* at, Values&&... values) {
    ::new (static_cast<void*>(at)) std::uint64_t(std::forward<Values>(values)...);
  }
};

struct FixedMatrix {
  /// All elements 0, without error. Throws std::logic_error for another number of limbs than 3, 5 and 7.
  FixedMatrix(Eigen::Index rows, Eigen::Index columns, int limbs);
  /// The same with digits that are to be set, all of them.
  static FixedMatrix unset(Eigen::Index rows, Eigen::Index columns, int limbs);

  Eigen::Index rows, columns;
  int limbs;
  /// X limb by limb, the lowest first: each plane is a row-major matrix.
  std::vector<std::uint64_t, UnsetWords> digits;
  std::vector<int> row_exponent, column_exponent;
  std::vector<double> row_radius, column_radius;

  Eigen::Index size() const { return rows * columns; }
  const std::uint64_t* plane(int limb) const { return digits.data() + limb * size(); }
  std::uint64_t* plane(int limb) { return digits.data() + limb * size(); }
  friend bool operator==(const FixedMatrix&, const FixedMatrix&) = default;

 private:
  struct Unset {};
  FixedMatrix(Eigen::Index rows, Eigen::Index columns, int limbs, Unset);
};

/// The least power of two above every magnitude of a row (column) is 2^(h + exponent). Exact where the bits of a row
/// spread over at most h places, as those of any floats within 2^102 of each other do with three limbs; an element that
/// reaches lower is rounded to the nearest, with a radius of 1/2. Throws std::domain_error that names `tensor`, row and
/// column of the first element that is not finite. Floats are doubles without rounding.
FixedMatrix fixed_point(const Matrix<double>& values, int limbs, Scaled scaled, const std::string& tensor = "matrix");
FixedMatrix fixed_point(const Matrix<float>& values, int limbs, Scaled scaled, const std::string& tensor = "matrix");

/// What is said of element (row, column) of a tensor that is not finite.
std::string not_finite(const std::string& tensor, Eigen::Index row, Eigen::Index column);

// Sums over the lines of a matrix in fixed point: of its X, which hold 2^h each beside their number.

/// The sum of the X of each row, or of each column, carried: [L + 1][lines].
class LineSums {
 public:
  LineSums(const FixedMatrix& matrix, bool by_rows, int threads);
  /// Limb l of the sum of every line, and eight numbers more, so that whole vectors may be read.
  const std::uint64_t* limb(int l) const { return sums_.data() + l * lines_; }

 private:
  std::uint64_t* limb(int l) { return sums_.data() + l * lines_; }
  void add_rows(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end);
  void add_columns(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end);

  Eigen::Index lines_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace tally::oracle::fixed
