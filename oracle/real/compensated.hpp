// Long double matrix products by binary64 arithmetic: faster than the x87 unit, and more exact.
#pragma once

#include <optional>

#include "oracle/real/matrix.hpp"

namespace tally::oracle {

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

}  // namespace tally::oracle
