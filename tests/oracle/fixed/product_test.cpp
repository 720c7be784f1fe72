#include "oracle/fixed_point/product.hpp"

#include <gtest/gtest.h>

#include "oracle/fixed_point/enclosures.hpp"
#include "oracle/real/functions.hpp"
#include "oracle/real/product.hpp"
#include "oracle/real/real.hpp"
#include "tests/oracle/fixed/operands.hpp"

namespace tally::oracle::fixed::product_test {
namespace {

/// Decimal digits enough for every bit of a product of seven limbs and its 2^11 terms: 2 7 52 + 11 bits.
constexpr unsigned all_digits = 2 * 7 * limb_bits / 3;

class FixedProduct : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Limbs, FixedProduct, testing::Values(3, 5, 7));

TEST_P(FixedProduct, HasTheSameBitsByEveryRouteCutAndNumberOfThreads) {
  const Schedule schedules[] = {{}, {3, 7, 5, 256}, {1, 1, 3, 1}, {2, 64, 8, 17}, {1, 0, 0, 0}, {1, 256, 256, 1 << 20}};
  for (const Pair& pair : all_pairs(GetParam())) {
    const FixedMatrix expected = product(pair.left, pair.right, Route::exact);
    for (const Route route : routes())
      for (const Schedule& schedule : schedules)
        EXPECT_TRUE(product(pair.left, pair.right, route, schedule) == expected)
            << pair.name << ", route " << static_cast<int>(route) << ", tiles of " << schedule.tile_rows;
  }
}

/// 2 |element - exact| / (2 radius), and so at most 1.
Real share_of_bound(const FixedMatrix& result, const Matrix<Real>& held, const Matrix<Real>& exact, Eigen::Index i,
                    Eigen::Index j) {
  const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
  Real bound = result.row_radius[r] + result.column_radius[c];
  mpfr_mul_2si(raw(bound), raw(bound), result.row_exponent[r] + result.column_exponent[c], MPFR_RNDN);
  if (bound == 0) return held(i, j) == exact(i, j) ? 0 : 2;
  return magnitude(held(i, j) - exact(i, j)) / bound;
}

TEST_P(FixedProduct, IsWithinItsBoundOfTheExactProduct) {
  const DigitsScope digits(all_digits);
  for (const Pair& pair : all_pairs(GetParam())) {
    const FixedMatrix result = product(pair.left, pair.right);
    if (pair.left.columns == 0) {
      EXPECT_EQ(result.digits, FixedMatrix(pair.left.rows, pair.right.columns, GetParam()).digits);
      continue;
    }
    const Matrix<Real> held = midpoints(result);
    const Matrix<Real> exact = tally::oracle::product(midpoints(pair.left), midpoints(pair.right));
    for (Eigen::Index i = 0; i < result.rows; ++i)
      for (Eigen::Index j = 0; j < result.columns; ++j)
        EXPECT_TRUE(share_of_bound(result, held, exact, i, j) <= 1) << pair.name << " " << i << " " << j;
  }
}

/// Errors of nearest whole numbers fill -1/2 .. 1/2 evenly where the sums have bits enough: of N elements all stay
/// below half the bound with a chance of 2^-N.
TEST_P(FixedProduct, ComesWithinAFactorOfTwoOfItsBound) {
  const DigitsScope digits(all_digits);
  Drawn drawn(3);
  const FixedMatrix left = drawn.lengthened(fixed_point(drawn.spread(12, 50, 4), GetParam(), Scaled::by_rows));
  const FixedMatrix right = drawn.lengthened(fixed_point(drawn.spread(50, 12, 4), GetParam(), Scaled::by_columns));
  const FixedMatrix result = product(left, right);
  const Matrix<Real> exact = tally::oracle::product(midpoints(left), midpoints(right)), held = midpoints(result);
  Real worst = 0;
  for (Eigen::Index i = 0; i < result.rows; ++i)
    for (Eigen::Index j = 0; j < result.columns; ++j) worst = larger(worst, share_of_bound(result, held, exact, i, j));
  EXPECT_TRUE(2 * worst > 1) << worst;
  EXPECT_TRUE(worst <= 1) << worst;
}

TEST_P(FixedProduct, EnclosesTheProductOfFloatsThatArbFindsAt600Bits) {
  const BitsScope bits(600);
  Drawn drawn(8);
  const Matrix<double> a = drawn.spread(20, 31, 20), b = drawn.spread(31, 22, 20);
  const Matrix<Ball> known = tally::oracle::product(Matrix<Ball>(a.cast<Ball>()), Matrix<Ball>(b.cast<Ball>()));
  for (const Route route : routes()) {
    const Matrix<Ball> found = enclosed(
        product(fixed_point(a, GetParam(), Scaled::by_rows), fixed_point(b, GetParam(), Scaled::by_columns), route));
    for (Eigen::Index i = 0; i < known.size(); ++i) EXPECT_TRUE(may_be_zero(found.data()[i] - known.data()[i])) << i;
  }
}

TEST_P(FixedProduct, CarriesTheRadiiOfItsOperands) {
  const BitsScope bits(600);
  Drawn drawn(5);
  const Matrix<Ball> third = Matrix<Ball>(drawn.spread(6, 9, 0).cast<Ball>()) / Ball(3);
  const Matrix<Ball> seventh = Matrix<Ball>(drawn.spread(9, 7, 60).cast<Ball>()) / Ball(7);
  FixedMatrix left = fixed_point(third, GetParam(), Scaled::by_rows),
              right = fixed_point(seventh, GetParam(), Scaled::by_columns);
  EXPECT_GE(left.row_radius.front(), 0.5);
  const Matrix<Ball> known = tally::oracle::product(third, seventh), found = enclosed(product(left, right));
  for (Eigen::Index i = 0; i < known.size(); ++i) EXPECT_TRUE(may_be_zero(found.data()[i] - known.data()[i])) << i;
}

/// Rows [x, 2^(h-1)] and columns [y; z], z such that the sum is `above` an odd multiple of half a unit, by less than
/// 2^(h-1): far less than what the fast routes leave out.
Pair beside_a_tie(int limbs, bool above, std::uint64_t seed) {
  const int h = magnitude_bits(limbs), d = dropped_bits(limbs, 2);
  Drawn drawn(seed);
  const auto power = [](int e) {
    Real result = 1;
    mpfr_mul_2si(raw(result), raw(result), e, MPFR_RNDN);
    return result;
  };
  FixedMatrix large(1, 1, limbs);
  large.plane(limbs - 1)[0] += top_half / 2;  // so that the scales are 1
  const Matrix<Real> x = midpoints(drawn.lengthened(large)), y = midpoints(drawn.lengthened(large));
  const Real top = power(h - 1), past = x(0, 0) * y(0, 0) - power(d - 1);
  const Real over = past - floor(past / power(d)) * power(d);  // above the tie below
  Matrix<Real> left(1, 2), right(2, 1);
  left << x(0, 0), top;
  right << y(0, 0), -floor(over / top) - (above ? 0 : 1);
  return {"tie", fixed_point(left, limbs, Scaled::by_rows), fixed_point(right, limbs, Scaled::by_columns)};
}

TEST_P(FixedProduct, AsksForTheExactSumBesideATie) {
  const DigitsScope digits(all_digits);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const bool above : {false, true}) {
      const Pair pair = beside_a_tie(GetParam(), above, seed);
      const FixedMatrix expected = product(pair.left, pair.right, Route::exact);
      for (const Route route : routes()) EXPECT_TRUE(product(pair.left, pair.right, route) == expected) << seed;
    }
  }
}

TEST_P(FixedProduct, RoundsTiesUpward) {
  const int h = magnitude_bits(GetParam()), d = dropped_bits(GetParam(), 2);
  Matrix<double> left(2, 2), right(2, 1);
  left << 0.5, 0.5, 0.5, -0.5;  // 2^(h - 1)
  right << 0.5, 0;
  right(1) = std::ldexp(1, d - 1 - (h - 1) - h);
  for (const Route route : routes()) {
    FixedMatrix a = fixed_point(left, GetParam(), Scaled::by_rows),
                b = fixed_point(right, GetParam(), Scaled::by_columns);
    b.plane(GetParam() - 1)[0] = top_half;  // 0 in place of 1/2, the scale as it was
    const FixedMatrix c = product(a, b, route);
    EXPECT_EQ(c.plane(0)[0], 1u);
    EXPECT_EQ(c.plane(0)[1], 0u);
    EXPECT_EQ(c.plane(GetParam() - 1)[1], top_half);
  }
}

TEST(FixedProductErrors, NameWhatDoesNotFit) {
  const FixedMatrix a(2, 3, 3), b(3, 2, 5);
  EXPECT_THROW(product(a, a), std::logic_error);
  EXPECT_THROW(product(a, b), std::logic_error);
  EXPECT_THROW(FixedMatrix(1, 1, 4), std::logic_error);
  FixedMatrix by_columns = fixed_point(Matrix<double>(Matrix<double>::Constant(2, 3, 4.0)), 3, Scaled::by_columns);
  EXPECT_THROW(product(by_columns, FixedMatrix(3, 2, 3)), std::logic_error);
  EXPECT_THROW(product(FixedMatrix(1, most_terms + 1, 3), FixedMatrix(most_terms + 1, 1, 3)), std::length_error);
}

}  // namespace
}  // namespace tally::oracle::fixed::product_test
