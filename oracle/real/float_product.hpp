// Matrix products of floats in one pass: their value to twice binary64, and their magnitude.
#pragma once

#include "oracle/real/compensated.hpp"

namespace tally::oracle {

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

}  // namespace tally::oracle
