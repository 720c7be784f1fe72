// Matrix products over every scalar; of long doubles and of floats by compensated binary64 arithmetic. Defined in
// product.cpp, compensated.cpp.
#pragma once

#include <optional>

#include "oracle/real/ball.hpp"
#include "oracle/real/number.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle {

// Long double matrix products by binary64 arithmetic: faster than the x87 unit, and more exact.

enum class Side { as_it_is, transposed };

/// op(a) op(b), [m, n], op transposing where its side says so; nothing where an element is not 0 and not within float's
/// normal range. With n inner terms and M = op(|a|) op(|b|),
///   |result - exact| <= 2^-64 |exact| + (n^2 2^-105 + n 2^-75) M,   the last term 0 for elements that are floats.
/// Each operand is split as x = hi + lo, hi its nearest float: lo has 40 bits at most, and |lo| <= 2^-24 |x|. The
/// products of two hi have 48 bits, so they are exact, and are summed with the error of every addition kept (Knuth's
/// TwoSum; Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005: u |s| + n^2 u^2 M). What
/// lo takes part in is 2^-24 of the whole: a plain product loses n 2^-53 of that.
std::optional<Matrix<long double>> compensated_product(const Matrix<long double>& a, Side side_a,
                                                       const Matrix<long double>& b, Side side_b);

// Matrix products of floats in one pass: their value to twice binary64, and their magnitude.

/// op(a) op(b), [m, n], as value + rest, and magnitude = op(|a|) op(|b|). With k inner terms
///   |value + rest - exact| <= (k^2 + k) 2^-105 magnitude,
/// value is what plain additions come to, and magnitude is off by at most k 2^-53 of itself. A product of two floats has 48 bits, so it is exact in binary64;
/// each addition's error is found (Knuth's TwoSum) and summed apart (Ogita, Rump, Oishi, "Accurate sum and dot product",
/// SIAM J. Sci. Comput. 26, 2005). Not finite where an operand is not.
struct FloatProduct {
  Matrix<double> value, rest, magnitude;
};

using FloatsRef = Eigen::Ref<const Matrix<float>>;

/// Throws std::logic_error where the inner sizes differ.
FloatProduct float_product(const FloatsRef& a, Side side_a, const FloatsRef& b, Side side_b);

// Matrix products. Each element is a sum over the inner index in increasing order, one rounding a multiplication and
// one an addition, or in long double closer to the exact one (oracle/real/product.hpp).

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

/// In balls each element is one dot product of the library's, whose radius is that of one sum (product.cpp).
template <>
Matrix<Ball> product(const Matrix<Ball>& a, const Matrix<Ball>& b);
template <>
Matrix<Ball> product_with_transposed(const Matrix<Ball>& a, const Matrix<Ball>& b);
template <>
Matrix<Ball> product_of_transposed(const Matrix<Ball>& a, const Matrix<Ball>& b);

/// In balls of fixed size by fixed point, as oracle/fixed_point/product.hpp says
/// (oracle/fixed_point/short_product.cpp): the same bits whatever is said there.
template <>
Matrix<ShortBall> product(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b);
template <>
Matrix<ShortBall> product_with_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b);
template <>
Matrix<ShortBall> product_of_transposed(const Matrix<ShortBall>& a, const Matrix<ShortBall>& b);
template <>
Matrix<ShortBall> column_sums(const Matrix<ShortBall>& a);

}  // namespace tally::oracle
