// Matrix products. Each element is a sum over the inner index in increasing order, one rounding a multiplication and
// one an addition, or in long double closer to the exact one (oracle/real/compensated.hpp).
#pragma once

#include "oracle/real/ball.hpp"
#include "oracle/real/matrix.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle {

/// a b, [m, n] from [m, k] and [k, n]. T is Real, long double, Ball or ShortBall.
template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b);
/// a bᵀ, [m, n] from [m, k] and [n, k].
template <class T>
Matrix<T> product_with_transposed(const Matrix<T>& a, const Matrix<T>& b);
/// aᵀ b, [m, n] from [k, m] and [k, n].
template <class T>
Matrix<T> product_of_transposed(const Matrix<T>& a, const Matrix<T>& b);

/// The sum of the rows, [1, n].
template <class T>
Matrix<T> column_sums(const Matrix<T>& a);

/// In balls each element is one dot product of the library's, whose radius is that of one sum (ball_product.cpp).
template <>
Matrix<Ball> product(const Matrix<Ball>& a, const Matrix<Ball>& b);
template <>
Matrix<Ball> product_with_transposed(const Matrix<Ball>& a, const Matrix<Ball>& b);
template <>
Matrix<Ball> product_of_transposed(const Matrix<Ball>& a, const Matrix<Ball>& b);

/// In balls of fixed size by fixed point, as oracle/fixed/short_product.hpp says (oracle/fixed/short_product.cpp): the
/// same bits whatever is said there.
template <>
Matrix<ShortBall> product(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b);
template <>
Matrix<ShortBall> product_with_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b);
template <>
Matrix<ShortBall> product_of_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b);
template <>
Matrix<ShortBall> column_sums(const Matrix<ShortBall>& a);

}  // namespace tally::oracle
