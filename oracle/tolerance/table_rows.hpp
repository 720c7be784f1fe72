// A table whose rows are looked up by a number a row, and its gradient: exactly, and with bounds.
#pragma once

#include <cstdint>

#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/predicted_bits.hpp"

namespace tally::oracle {

// Rows of a table, looked up by a number a row, and the gradient of the table.

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

// A table whose rows are looked up by a number a row (embedding.1), and the gradient of such a table (embedding.2).

/// The rows of the table that index [rows, 1] names, as they stand there.
Expected looked_up_rows(const Expected& table, const Matrix<long double>& index);

/// `exact` with the bound of dW [rows of the table, columns of dy]: of each row of the table a sum over its own rows of
/// dy, by the claim of `embedding.gradient`, stored. Row `except` takes nothing.
Expected table_gradient(const Declared& declared, Matrix<long double> exact, Eigen::Index table_rows,
                        const Matrix<long double>& index, const Expected& dy, std::int64_t except = -1);

/// Its bits, where the claim adds each row's own in the order of their rows (`in_order`).
Prediction predicted_table_gradient(const Declared& declared, Eigen::Index table_rows, const Tensor& index,
                                    const Matrix<float>& dy, std::int64_t except = -1);

}  // namespace tally::oracle
