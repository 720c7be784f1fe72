// Matrices of balls of fixed size (oracle/real/short_ball.hpp) as operands of products in fixed point, and back.
// Defined in short_operand.cpp, short_product.cpp.
#pragma once

#include <vector>

#include "oracle/fixed_point/matrix.hpp"
#include "oracle/real/short_ball.hpp"

namespace tally::oracle::fixed {

/// What a product needs to know of one row of a left or one column of a right operand, in units of its numbers and
/// rounded upward: of their magnitudes, and of how far each is off, the largest and the sum.
struct Line {
  double largest = 0, sum = 0, radius = 0, radius_sum = 0;
  bool is_zero() const { return sum == 0 && radius == 0; }
};

/// What a midpoint is cut to, and its highest bits.
inline constexpr int operand_limbs = 3, operand_bits = 128;

/// The midpoints cut to three limbs of fixed point, radii not in them but in the lines.
struct ShortOperand {
  FixedMatrix matrix;
  std::vector<Line> lines;
};

/// The matrix, or its transpose, with the scales on the side that is asked for; its numbers are cut to whole ones where
/// they reach below 2^-155 of the largest of their line. `threads` share the work.
ShortOperand short_operand(const Matrix<ShortBall>& values, bool transposed, Scaled scaled, int threads);

/// The balls of a product of these two, [m, p]: element (i, j) is at most
///   1/2 + (f(left_i, right_j) + f(right_j, left_i) + left_i.radius right_j.radius_sum) / 2^d,
///   f(a, b) = min(a.sum b.radius, a.largest b.radius_sum),
/// units off, d as in oracle/fixed_point/product.hpp; 0 where a line is exactly 0.
Matrix<ShortBall> short_balls(const FixedMatrix& product, const ShortOperand& left, const ShortOperand& right,
                              int threads);

}  // namespace tally::oracle::fixed
