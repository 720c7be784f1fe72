// Matrices over any scalar, and from the case's text and bits to the oracle's scalars.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <string>

#include "oracle/case/case.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle {

// Matrices over any scalar. A vector is a 1 x n matrix; a scalar 1 x 1.

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Tensors by name.
template <class T>
using Tensors = std::map<std::string, Matrix<T>>;

// From the case's text and bits to the oracle's scalars. T is Real, long double, Ball or ShortBall.

/// The decimal written, rounded once to T, or enclosed. Throws std::logic_error for text that is no decimal: the
/// reader's bug.
template <class T>
T number(const Decimal& decimal);

/// The tensor's bits, lifted exactly (i64 beyond T's precision rounds); a vector becomes 1 x n, a scalar 1 x 1. To
/// ShortBall an element that is not finite is Undecided, which names row and column.
template <class T>
Matrix<T> lift(const Tensor& tensor);

/// Rows first .. first + rows - 1 of a tensor whose first dimension counts rows; a vector becomes 1 x rows.
template <class T>
Matrix<T> lift_rows(const Tensor& tensor, std::int64_t first, std::int64_t rows);

}  // namespace tally::oracle
