// Between matrices in fixed point and the oracle's other scalars: balls, and numbers of any number of digits.
#pragma once

#include "oracle/fixed_point/matrix.hpp"
#include "oracle/real/ball.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle::fixed {

/// As from doubles (oracle/fixed_point/matrix.hpp): the midpoint rounded to the nearest, the radius made of the ball's
/// and of that rounding. Throws std::domain_error that names `tensor`, row and column of an element that is not finite,
/// and std::range_error where an exponent is beyond 2^24.
FixedMatrix fixed_point(const Matrix<Ball>& values, int limbs, Scaled scaled, const std::string& tensor = "matrix");
FixedMatrix fixed_point(const Matrix<Real>& values, int limbs, Scaled scaled, const std::string& tensor = "matrix");

/// Balls that hold what the matrix stands for: the midpoints exact, whatever the precision in force.
Matrix<Ball> enclosed(const FixedMatrix& matrix);
/// The numbers held, rounded at the precision in force, and the errors of nothing.
Matrix<Real> midpoints(const FixedMatrix& matrix);

}  // namespace tally::oracle::fixed
