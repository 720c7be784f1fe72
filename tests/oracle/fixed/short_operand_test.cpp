#include "oracle/fixed_point/short_operand.hpp"

#include "oracle/fixed_point/enclosures.hpp"
#include "oracle/fixed_point/product.hpp"
#include "oracle/real/product.hpp"
#include "tests/oracle/real/short_balls.hpp"

namespace tally::oracle::fixed::short_operand_test {
namespace {

/// Sizes that fill vectors of eight and leave some over.
constexpr Eigen::Index rows = 11, terms = 19, columns = 26;

Matrix<ShortBall> drawn_matrix(ShortBalls& drawn, Eigen::Index m, Eigen::Index n, std::int32_t least) {
  Matrix<ShortBall> result(m, n);
  for (Eigen::Index i = 0; i < result.size(); ++i)
    result.data()[i] = drawn.between(0, 9) == 0 ? ShortBall(0) : drawn.ball(least, 8);
  result.row(3).setConstant(ShortBall(0));
  result.col(5).setConstant(ShortBall(0));
  return result;
}

/// 2^n.
Ball two_to(std::int64_t n) { return n < 0 ? Ball(1) / power(Ball(2), -n) : power(Ball(2), n); }

/// What is said of a line holds of its numbers: in units of it.
void expect_line(const Line& line, const std::vector<Ball>& sizes, const std::vector<Ball>& off) {
  Ball largest = 0, sum = 0, radius = 0, radius_sum = 0;
  for (const Ball& each : sizes) largest = larger(largest, each), sum += each;
  for (const Ball& each : off) radius = larger(radius, each), radius_sum += each;
  EXPECT_TRUE(largest <= Ball(line.largest) && sum <= Ball(line.sum));
  EXPECT_TRUE(radius <= Ball(line.radius) && radius_sum <= Ball(line.radius_sum));
}

void expect_operand(const Matrix<ShortBall>& values, bool transposed, Scaled scaled, ShortBalls& drawn) {
  const ShortOperand found = short_operand(values, transposed, scaled, 2);
  const Matrix<Ball> held = enclosed(found.matrix);
  const bool by_rows = scaled == Scaled::by_rows;
  const std::vector<int>& exponents = by_rows ? found.matrix.row_exponent : found.matrix.column_exponent;
  for (std::size_t line = 0; line < exponents.size(); ++line) {
    const Ball unit = two_to(exponents[line]);
    std::vector<Ball> sizes, off;
    for (Eigen::Index k = 0; k < (by_rows ? held.cols() : held.rows()); ++k) {
      const auto l = static_cast<Eigen::Index>(line);
      const Ball& number = by_rows ? held(l, k) : held(k, l);
      const ShortBall& value = by_rows != transposed ? values(l, k) : values(k, l);
      const std::vector<Ball> within = drawn.within(value);
      sizes.push_back(magnitude(within[0]) / unit);
      Ball most = 0;
      for (const Ball& each : within) most = larger(most, magnitude(each - number) / unit);
      off.push_back(most);
    }
    expect_line(found.lines[line], sizes, off);
  }
}

TEST(ShortOperand, IsOffByNoMoreThanItsLinesSay) {
  const BitsScope bits(known_bits);
  ShortBalls drawn(1);
  for (const std::int32_t least : {8, -10, -60, -170})
    for (const bool transposed : {false, true})
      for (const Scaled scaled : {Scaled::by_rows, Scaled::by_columns})
        expect_operand(drawn_matrix(drawn, rows, columns, least), transposed, scaled, drawn);
}

/// One number of every element: a corner, the middle or what is between.
Matrix<Ball> one_within(ShortBalls& drawn, const Matrix<ShortBall>& x, std::size_t which) {
  return x.unaryExpr([&](const ShortBall& each) -> Ball {
    const std::vector<Ball> all = drawn.within(each);
    return all[which % all.size()];
  });
}

/// Far below the largest of their lines are products whose highest limb is 0.
TEST(ShortProduct, HoldsTheProductsOfAllNumbersInTheBalls) {
  const BitsScope bits(known_bits);
  ShortBalls drawn(2);
  for (const std::int32_t least : {8, -10, -60, -170}) {
    const Matrix<ShortBall> a = drawn_matrix(drawn, rows, terms, least), b = drawn_matrix(drawn, terms, columns, least);
    const ShortOperand left = short_operand(a, false, Scaled::by_rows, 1),
                       right = short_operand(b, false, Scaled::by_columns, 1);
    const Matrix<ShortBall> found = short_balls(product(left.matrix, right.matrix), left, right, 2);
    for (std::size_t which = 0; which < 4; ++which) {
      const Matrix<Ball> exact = oracle::product(one_within(drawn, a, which), one_within(drawn, b, which / 2));
      for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < columns; ++j)
          EXPECT_TRUE(holds(found(i, j), exact(i, j))) << text_of(found(i, j)) << " without " << shown(exact(i, j));
    }
    for (Eigen::Index i = 0; i < rows; ++i) EXPECT_TRUE(found(i, 5).is_zero());
    for (Eigen::Index j = 0; j < columns; ++j) EXPECT_TRUE(found(3, j).is_zero());
  }
}

/// A product of two numbers that lie 2^-60 below the largest of their lines has a highest limb of 0.
TEST(ShortProduct, HoldsWhatIsSmallBesideItsLine) {
  const BitsScope bits(known_bits);
  Matrix<ShortBall> a = Matrix<ShortBall>::Zero(8, 8), b = Matrix<ShortBall>::Zero(8, 16);
  a.col(0).setConstant(ShortBall(1)), a.col(1).setConstant(ShortBall(std::ldexp(3.0, -60)));
  b.row(1).setConstant(ShortBall(std::ldexp(5.0, -60))), b.row(2).setConstant(ShortBall(1));
  const ShortOperand left = short_operand(a, false, Scaled::by_rows, 1),
                     right = short_operand(b, false, Scaled::by_columns, 1);

  const Matrix<ShortBall> found = short_balls(product(left.matrix, right.matrix), left, right, 1);

  const Ball exact = Ball(std::ldexp(15.0, -120));
  ASSERT_EQ(found.size(), a.rows() * b.cols());
  for (Eigen::Index i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(holds(found(i), exact)) << text_of(found(i));
    EXPECT_TRUE(found(i).middle == 0 || found(i).middle >= ShortBall::top_bit) << text_of(found(i));
  }
}

}  // namespace
}  // namespace tally::oracle::fixed::short_operand_test
