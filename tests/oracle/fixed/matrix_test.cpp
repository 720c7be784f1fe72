#include "oracle/fixed_point/matrix.hpp"

#include <gtest/gtest.h>

#include "oracle/fixed_point/enclosures.hpp"
#include "oracle/real/real.hpp"
#include "tests/oracle/fixed/operands.hpp"

namespace tally::oracle::fixed::matrix_test {
namespace {

class FixedMatrices : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Limbs, FixedMatrices, testing::Values(3, 5, 7));

std::vector<Matrix<double>> samples() {
  Drawn drawn(2);
  return {drawn.spread(5, 9, 20),
          hilbert(7),
          subnormal(4, 6),
          Matrix<double>::Constant(3, 2, -DBL_MAX),
          Matrix<double>::Zero(2, 3),
          Matrix<double>::Constant(1, 1, DBL_TRUE_MIN),
          Matrix<double>(0, 3)};
}

TEST_P(FixedMatrices, HoldFloatsExactly) {
  const DigitsScope digits(800);
  for (const Matrix<double>& values : samples()) {
    for (const Scaled side : {Scaled::by_rows, Scaled::by_columns}) {
      const FixedMatrix held = fixed_point(values, GetParam(), side);
      EXPECT_TRUE(midpoints(held) == values.cast<Real>());
      for (const double radius : held.row_radius) EXPECT_EQ(radius, 0);
      for (const double radius : held.column_radius) EXPECT_EQ(radius, 0);
    }
  }
}

TEST_P(FixedMatrices, AreTheSameFromDoublesBallsAndManyDigits) {
  const DigitsScope digits(800);
  for (const Matrix<double>& values : samples()) {
    const FixedMatrix held = fixed_point(values, GetParam(), Scaled::by_rows);
    EXPECT_TRUE(fixed_point(Matrix<Real>(values.cast<Real>()), GetParam(), Scaled::by_rows) == held);
    EXPECT_TRUE(fixed_point(Matrix<Ball>(values.cast<Ball>()), GetParam(), Scaled::by_rows) == held);
  }
}

TEST_P(FixedMatrices, RoundWhatReachesBelowTheLastBit) {
  const DigitsScope digits(800);
  const int h = magnitude_bits(GetParam());
  Matrix<double> values(2, 4);
  values << 1, std::ldexp(3, -h), -std::ldexp(5, -h - 3), std::ldexp(1, -h - 80), 1, 2, 3, 4;
  const FixedMatrix held = fixed_point(values, GetParam(), Scaled::by_rows);
  EXPECT_EQ(held.row_radius, (std::vector<double>{0.5, 0}));
  const Matrix<Real> found = midpoints(held);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const Real off = found(i) - Real(values(i)), most = std::ldexp(0.5, 1 - h);
    EXPECT_TRUE(off <= most && -off <= most) << i;
  }
}

TEST_P(FixedMatrices, KeepTheWholeBall) {
  const BitsScope bits(80);
  Matrix<Ball> values(2, 2);
  values << Ball(1) / 3, Ball(-5) / 7, 0, Ball(2) / 9;
  const Matrix<Ball> back = enclosed(fixed_point(values, GetParam(), Scaled::by_columns));
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const BitsScope more(2000);
    EXPECT_TRUE(may_be_zero(back(i) - values(i)));
    EXPECT_GE(nearest(back(i)).off, nearest(values(i)).off);
  }
}

TEST(FixedMatrixErrors, NameTensorRowAndColumn) {
  Matrix<double> values = Matrix<double>::Zero(3, 4);
  values(1, 2) = INFINITY;
  values(2, 0) = NAN;
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const std::domain_error& error) {
      return error.what();
    }
    return "";
  };
  const std::string expected = "fc1.weight: row 1, column 2 is not finite; fixed point holds finite numbers only";
  EXPECT_EQ(message([&] { fixed_point(values, 3, Scaled::by_rows, "fc1.weight"); }), expected);
  const Matrix<Ball> balls = values.cast<Ball>();
  EXPECT_EQ(message([&] { fixed_point(balls, 3, Scaled::by_rows, "fc1.weight"); }), expected);
}

}  // namespace
}  // namespace tally::oracle::fixed::matrix_test
