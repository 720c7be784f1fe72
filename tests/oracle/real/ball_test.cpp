#include "oracle/real/ball.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/real/functions.hpp"
#include "oracle/real/number.hpp"
#include "oracle/real/product.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle::ball_test {
namespace {

constexpr unsigned few_bits = 53, many_digits = 120;

/// A ball that is no point, with some width.
Ball third() { return Ball(1) / 3; }

/// The distance of an exact value from the nearest long double of the ball is no more than the ball says.
void expect_inside(const Ball& ball, const Real& exact, const std::string& what) {
  const Nearest held = nearest(ball);
  EXPECT_TRUE(magnitude(Real(held.value) - exact) <= Real(held.off)) << what << ": " << shown(ball);
  EXPECT_LE(held.off, 0x1p-40L * std::fabs(held.value)) << what << " is too wide: " << shown(ball);
}

TEST(Ball, HoldsWhatManyDigitsGiveForEveryOperation) {
  const DigitsScope digits(many_digits);
  const BitsScope bits(few_bits);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> draw(0.1, 3);
  for (int i = 0; i < 200; ++i) {
    const double a = draw(random), b = draw(random) + 4;
    const Ball x = Ball(a) / 7, y = Ball(b) / 7;
    const Real u = Real(a) / 7, v = Real(b) / 7;
    expect_inside(x + y, u + v, "sum");
    expect_inside(x - y, u - v, "difference");
    expect_inside(x * y, u * v, "product");
    expect_inside(x / y, u / v, "quotient");
    expect_inside(power(x, 9), power(u, 9), "power");
    expect_inside(exp(x), exp(u), "exp");
    expect_inside(log1p(x), log1p(u), "log1p");
    expect_inside(tanh(x), tanh(u), "tanh");
    expect_inside(cosh(x), cosh(u), "cosh");
    expect_inside(cos(x), cos(u), "cos");
    expect_inside(erf(x), erf(u), "erf");
    expect_inside(erfc(x), erfc(u), "erfc");
    expect_inside(sqrt(x), sqrt(u), "root");
    expect_inside(larger(x, y), v, "larger");
    expect_inside(smaller(x, y), u, "smaller");
  }
  expect_inside(pi<Ball>(), pi<Real>(), "pi");
}

TEST(Ball, KeepsSmallWholeNumbersAsPoints) {
  const BitsScope bits(few_bits);

  EXPECT_TRUE(Ball(6) / 3 == 2);
  EXPECT_TRUE(number<Ball>({"0.5"}) * 3 - 1.5 == 0);
  EXPECT_TRUE(exp(Ball(0)) == 1);
  EXPECT_TRUE(Ball(1.5L + 0x1p-60L) > 1.5);  // all bits of a long double
}

TEST(Ball, LeavesATieOfInexactNumbersUndecided) {
  const BitsScope bits(few_bits);
  const Ball zero = third() * 3 - 1;

  EXPECT_THROW(static_cast<void>(zero == 0), Undecided);
  EXPECT_THROW(static_cast<void>(zero <= 0), Undecided);
  EXPECT_THROW(static_cast<void>(zero < 0), Undecided);
  EXPECT_THROW(1 / zero, Undecided);
  EXPECT_THROW(sqrt(zero), Undecided);
  EXPECT_FALSE(surely_greater(zero, Ball(0)));
  EXPECT_TRUE(may_be_zero(zero));
  EXPECT_FALSE(decimal_text(zero, 1));
}

TEST(Ball, KnowsThatSquaresAreNotNegative) {
  const BitsScope bits(few_bits);
  const Ball zero = third() * 3 - 1, sum = zero * zero + 2 * (zero * zero) / 3;

  EXPECT_TRUE(nearest(sqrt(sum)).off < 0x1p-40L);
  EXPECT_TRUE(sqrt(sum) + 1 > 0);
}

TEST(Ball, IsNothingMinusItself) {
  const BitsScope bits(few_bits);
  const Ball x = third(), same = third();

  EXPECT_TRUE(x - x == 0);
  EXPECT_THROW(static_cast<void>(x - same == 0), Undecided);
}

TEST(Ball, TreatsInfinitiesAndNanAsIeeeDoes) {
  const double values[] = {-INFINITY, -2, 0, 3, INFINITY, NAN};
  const auto same = [](const Ball& ball, double expected) {
    return std::isnan(expected) ? is_nan(ball) : !is_nan(ball) && nearest(ball).value == expected;
  };
  for (const double a : values) {
    EXPECT_TRUE(same(exp(Ball(a)), std::exp(a)) || std::isfinite(a)) << a;
    EXPECT_TRUE(same(sqrt(Ball(a)), std::sqrt(a)) || std::isfinite(a)) << a;
    for (const double b : values) {
      const Ball x = a, y = b;
      EXPECT_TRUE(same(x + y, a + b)) << a << " + " << b;
      EXPECT_TRUE(same(x - y, a - b)) << a << " - " << b;
      EXPECT_TRUE(same(x * y, a * b)) << a << " * " << b;
      EXPECT_TRUE(same(x / y, a / b) || (std::isfinite(a) && std::isfinite(b) && b != 0)) << a << " / " << b;
      EXPECT_EQ(x < y, a < b);
      EXPECT_EQ(x <= y, a <= b);
      EXPECT_EQ(x == y, a == b);
    }
  }
  EXPECT_TRUE(is_nan(sqrt(Ball(-1))));
}

TEST(Ball, GivesOnlyCertainDigitsAsText) {
  const BitsScope bits(few_bits);

  EXPECT_EQ(decimal_text(third(), 10), "0.3333333333");
  EXPECT_FALSE(decimal_text(third(), 20));
  EXPECT_EQ(decimal_text(Ball(-0.25), 300), "-0.25");
  EXPECT_EQ(decimal_text(Ball(0), 5), "0");
  EXPECT_EQ(decimal_text(-power(Ball(10), 30), 5), "-1e30");
}

TEST(Ball, ComparesSizesForCertain) {
  const BitsScope bits(few_bits);
  const Ball small = third() * 3 - 1;  // within 2^-50 of zero

  EXPECT_TRUE(negligible(small, Ball(1), 15));
  EXPECT_FALSE(negligible(small, Ball(1), 17));
  EXPECT_FALSE(negligible(Ball(1), small, 1));
  EXPECT_TRUE(&larger_for_certain(small, small) == &small);
}

TEST(BallProduct, IsExactForPointsAndHoldsTheRestOfACancellation) {
  const BitsScope bits(few_bits);
  Matrix<Ball> a(1, 3), b(3, 1);
  a << Ball(1), Ball(0x1p-200L), Ball(-1);
  b << Ball(3), Ball(5), Ball(3);
  EXPECT_TRUE(may_be_zero(product(a, b)(0)));
  EXPECT_FALSE(decimal_text(product(a, b)(0), 1));

  const BitsScope more(300);
  EXPECT_TRUE(product(a, b)(0) == 5 * Ball(0x1p-200L));
}

TEST(BallProduct, AgreesWithTheSumsItStandsFor) {
  const BitsScope bits(few_bits);
  Matrix<Ball> a(2, 3), b(3, 2);
  for (int i = 0; i < 6; ++i) a(i) = Ball(i - 2) / 8, b(i) = Ball(5 - i) / 4;
  const Matrix<Ball> at = a.transpose(), bt = b.transpose();
  for (Eigen::Index i = 0; i < 2; ++i)
    for (Eigen::Index j = 0; j < 2; ++j) {
      const Ball sum = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
      EXPECT_TRUE(product(a, b)(i, j) == sum);
      EXPECT_TRUE(product_with_transposed(a, bt)(i, j) == sum);
      EXPECT_TRUE(product_of_transposed(at, b)(i, j) == sum);
    }
  a(0, 1) = INFINITY;
  EXPECT_FALSE(is_finite(product(a, b)(0, 0)));
  EXPECT_TRUE(is_finite(product(a, b)(1, 0)));
}

}  // namespace
}  // namespace tally::oracle::ball_test
