#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/real/product.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle::compensated_test {
namespace {

constexpr unsigned digits_enough = 60;  // 2^-64 of products of 64 bits each, summed

/// Normal values times powers of two up to 2^+-spread, with all the bits of long double or with those of float.
Matrix<long double> values(Eigen::Index rows, Eigen::Index columns, int spread, bool floats, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<long double> normal;
  Matrix<long double> drawn(rows, columns);
  for (Eigen::Index i = 0; i < drawn.size(); ++i) {
    const int exponent = spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread;
    const long double value = std::ldexp(normal(random), exponent);
    drawn(i) = random() % 16 == 0 ? 0 : floats ? static_cast<float>(value) : value;
  }
  return drawn;
}

Matrix<Real> real(const Matrix<long double>& x, Side side) {
  const Matrix<Real> same = x.cast<Real>();
  return side == Side::transposed ? Matrix<Real>(same.transpose()) : same;
}

Matrix<long double> oriented(const Matrix<long double>& x, Side side) {
  return side == Side::transposed ? Matrix<long double>(x.transpose()) : x;
}

/// Every element within what the header promises.
void expect_promised(const Matrix<long double>& a, Side side_a, const Matrix<long double>& b, Side side_b,
                     bool floats) {
  const DigitsScope scope(digits_enough);
  const auto got = compensated_product(oriented(a, side_a), side_a, oriented(b, side_b), side_b);
  ASSERT_TRUE(got);
  const Matrix<Real> exact = product(real(a, Side::as_it_is), real(b, Side::as_it_is));
  const Matrix<long double> sizes = a.cwiseAbs() * b.cwiseAbs();
  const auto n = static_cast<long double>(a.cols());
  const long double promised = n * n * 0x1p-105L + (floats ? 0 : n * 0x1p-75L);
  ASSERT_EQ(got->size(), exact.size());
  for (Eigen::Index i = 0; i < got->size(); ++i) {
    const Real off = abs(Real((*got)(i)) - exact(i));
    const Real most = abs(exact(i)) * Real(0x1p-64L) + Real(sizes(i) * promised * (1 + 0x1p-50L));
    ASSERT_TRUE(off <= most) << i << ": " << off << " of " << most;
  }
}

TEST(CompensatedProduct, StaysWithinItsPromiseForFloats) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Eigen::Index rows = 1 + seed % 5, inner = seed % 37, columns = 1 + seed % 19;
    const auto a = values(rows, inner, static_cast<int>(seed % 3 * 20), true, seed);
    const auto b = values(inner, columns, static_cast<int>(seed % 3 * 20), true, seed + 100);
    expect_promised(a, Side::as_it_is, b, Side::as_it_is, true);
    expect_promised(a, Side::transposed, b, Side::as_it_is, true);
    expect_promised(a, Side::as_it_is, b, Side::transposed, true);
  }
}

TEST(CompensatedProduct, StaysWithinItsPromiseForLongDoubles) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Eigen::Index rows = 1 + seed % 5, inner = 1 + seed % 37, columns = 1 + seed % 19;
    const auto a = values(rows, inner, 10, seed % 4 == 0, seed),
               b = values(inner, columns, 10, seed % 3 == 0, seed + 7);
    expect_promised(a, Side::as_it_is, b, Side::transposed, false);
  }
}

/// The same terms twice with opposite signs, and a small one between: all digits but those of that one cancel.
TEST(CompensatedProduct, KeepsWhatIsLeftOfACancellation) {
  const auto half = values(1, 30, 20, true, 3), other = values(30, 1, 20, true, 4);
  Matrix<long double> a(1, 61), b(61, 1);
  a << half, 0x1p-20L, half;
  b << other, 1, -other;
  expect_promised(a, Side::as_it_is, b, Side::as_it_is, true);
}

TEST(CompensatedProduct, RefusesWhatIsOutOfFloatsNormalRange) {
  const Matrix<long double> one = Matrix<long double>::Ones(1, 1);
  for (const long double bad :
       {static_cast<long double>(INFINITY), static_cast<long double>(NAN), 0x1p128L, 0x1p-127L}) {
    Matrix<long double> x = one;
    x(0, 0) = bad;
    EXPECT_FALSE(compensated_product(x, Side::as_it_is, one, Side::as_it_is));
    EXPECT_FALSE(compensated_product(one, Side::as_it_is, x, Side::as_it_is));
  }
  EXPECT_TRUE(compensated_product(one, Side::as_it_is, one, Side::as_it_is));
}

TEST(Product, IsTheSameWithAndWithoutTheFastWayUpToItsPromise) {
  Matrix<long double> a = values(4, 9, 5, true, 1), b = values(9, 6, 5, true, 2);
  const Matrix<long double> fast = product(a, b);
  a(3, 0) = 0x1p-140L;  // the last row's alone changes, by less than can be seen
  const Matrix<long double> slow = product(a, b);
  const Matrix<long double> sizes = a.cwiseAbs() * b.cwiseAbs();
  EXPECT_TRUE(((fast - slow).topRows(3).array().abs() <= (9 * 0x1p-64L * sizes.topRows(3).array())).all());
}

}  // namespace
}  // namespace tally::oracle::compensated_test
