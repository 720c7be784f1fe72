// Matrices in fixed point, and how they are made from floats.
//
// Element (i, j) stands for A 2^(row_exponent[i] + column_exponent[j]), A the signed whole number that format.hpp
// describes, and differs from what it was computed from by at most
//   (row_radius[i] + column_radius[j]) 2^(row_exponent[i] + column_exponent[j]).
// A left operand has all its scales and radii in the rows, a right operand in the columns; the other side is zero.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "oracle/fixed/format.hpp"
#include "oracle/real/matrix.hpp"

namespace tally::oracle::fixed {

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

}  // namespace tally::oracle::fixed
