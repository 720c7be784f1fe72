// Rows of a table, looked up by a number a row, and the gradient of the table.
#pragma once

#include "oracle/real/functions.hpp"
#include "oracle/real/matrix.hpp"

namespace tally::oracle {

/// The row of the table that index [rows, 1] names, for every row of it.
template <class T, class I>
Matrix<T> looked_up(const Matrix<T>& table, const Matrix<I>& index) {
  Matrix<T> rows(index.rows(), table.cols());
  for (Eigen::Index r = 0; r < index.rows(); ++r) rows.row(r) = table.row(to_integer(index(r, 0)));
  return rows;
}

/// dW of a table of so many rows: to the row that the index names, each row of dy is added; nothing to row `except`.
template <class T>
Matrix<T> added_to_rows(Eigen::Index rows, const Matrix<T>& index, const Matrix<T>& dy, std::int64_t except = -1) {
  Matrix<T> sum = Matrix<T>::Zero(rows, dy.cols());
  for (Eigen::Index r = 0; r < index.rows(); ++r)
    if (const std::int64_t at = to_integer(index(r, 0)); at != except) sum.row(at) += dy.row(r);
  return sum;
}

}  // namespace tally::oracle
