// How much of what the sums of a matrix add up is alike (oracle/tolerance/alike.hpp): within one sum, and across sums.
#pragma once

#include "oracle/real/matrix.hpp"

namespace tally::oracle {

/// Within each row of x, as one factor of the products that a sum adds up.
Eigen::ArrayXd alike_within_rows(const Matrix<double>& x, double unit_roundoff);

/// How many rows hold, in the same column, what a row holds there: the most on average over one row's columns, and the
/// most anywhere.
struct Repetition {
  double mean = 1, most = 1;
};
Repetition repeated_in_columns(const Matrix<double>& x, double unit_roundoff);

/// How many elements of a product A B may err together, because their sums have addends that are alike.
double shared_addends(const Matrix<double>& a, const Matrix<double>& b, double unit_roundoff);
/// How many of the sums of the columns of x.
double shared_addends_of_columns(const Matrix<double>& x, double unit_roundoff);

}  // namespace tally::oracle
