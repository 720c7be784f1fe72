// How much of what the sums of a matrix add up is alike (oracle/tolerance/alike.hpp): within one sum, and across sums.
#pragma once

#include "oracle/tolerance/likeness.hpp"

namespace tally::oracle {

/// How much is alike within each row of x, as one factor of the products that a sum adds up.
Eigen::ArrayXd alike_within_rows(const Matrix<double>& x, double unit_roundoff);

Repetition repeated_in_columns(const Matrix<double>& x, double unit_roundoff);

/// An operand as a product reads it: A by rows, B by columns; counted once where it is kept.
struct ProductOperand {
  const Matrix<double>& v;
  bool columns;              // of B
  Likeness* kept = nullptr;  // of v, or of its transpose
  bool of_transpose = false;

  /// How much is alike within each row of A, or column of B.
  Eigen::ArrayXd alike_within(double unit_roundoff) const;
  /// The repetition of A's rows, or B's columns.
  Repetition repeated(double unit_roundoff) const;
};

/// How many elements of a product A B may err together, because their sums have addends that are alike.
double shared_addends(const ProductOperand& a, const ProductOperand& b, double unit_roundoff);
double shared_addends(const Matrix<double>& a, const Matrix<double>& b, double unit_roundoff);
/// How many of the sums of the columns of x.
double shared_addends_of_columns(const Matrix<double>& x, double unit_roundoff);

}  // namespace tally::oracle
