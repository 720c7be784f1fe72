#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "oracle/real/product.hpp"
#include "oracle/real/real.hpp"

namespace tally::oracle::float_product_test {
namespace {

using FloatMatrix = Matrix<float>;

constexpr unsigned digits_enough = 300;  // sums of products of any two floats, exactly

constexpr int largest_exponent = 120;  // beyond it normal values overflow

/// Normal values times powers of two from 2^-spread on, subnormal where that reaches so low; some are zero.
FloatMatrix drawn(Eigen::Index rows, Eigen::Index columns, int spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  FloatMatrix x(rows, columns);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const int exponent = spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(2 * spread)) - spread;
    x.data()[i] = random() % 16 == 0 ? 0 : std::ldexp(normal(random), std::min(exponent, largest_exponent));
  }
  return x;
}

FloatMatrix oriented(const FloatMatrix& x, Side side) { return side == Side::transposed ? x.transpose() : x; }

/// a [m, k] times b [k, n], each handed over as its transpose where its side says so.
void expect_promised(const FloatMatrix& a, Side side_a, const FloatMatrix& b, Side side_b) {
  const DigitsScope scope(digits_enough);
  const FloatProduct got = float_product(oriented(a, side_a), side_a, oriented(b, side_b), side_b);
  const Matrix<Real> exact = product(Matrix<Real>(a.cast<Real>()), Matrix<Real>(b.cast<Real>())),
                     sizes = product(Matrix<Real>(a.cwiseAbs().cast<Real>()), Matrix<Real>(b.cwiseAbs().cast<Real>()));
  const auto k = static_cast<double>(a.cols());
  const Real share = Real((k * k + k) * 0x1p-105), of_magnitude = Real(k * 0x1p-53);
  ASSERT_EQ(got.value.rows(), a.rows());
  ASSERT_EQ(got.value.cols(), b.cols());
  for (Eigen::Index i = 0; i < got.value.size(); ++i) {
    const Real value(got.value.data()[i]), rest(got.rest.data()[i]), magnitude(got.magnitude.data()[i]);
    const Real &wanted = exact.data()[i], &size = sizes.data()[i];
    ASSERT_TRUE(abs(Real(value + rest - wanted)) <= share * size) << i;
    ASSERT_TRUE(abs(Real(magnitude - size)) <= of_magnitude * size) << i;
  }
}

TEST(FloatProduct, StaysWithinItsPromiseAtEverySizeAndSide) {
  for (unsigned seed = 1; seed <= 48; ++seed) {
    const Eigen::Index rows = 1 + seed % 7, inner = seed % 37, columns = 1 + seed % 19;
    const int spread = static_cast<int>(seed % 4 * 45);
    const FloatMatrix a = drawn(rows, inner, spread, seed), b = drawn(inner, columns, spread, seed + 100);
    for (const Side side_a : {Side::as_it_is, Side::transposed})
      for (const Side side_b : {Side::as_it_is, Side::transposed}) expect_promised(a, side_a, b, side_b);
  }
}

TEST(FloatProduct, KeepsWhatCancels) {
  FloatMatrix a(1, 3), b(3, 1);
  a << 0x1p60F, 1, -0x1p60F;
  b << 0x1p60F, 0x1p-60F, 0x1p60F;
  const FloatProduct got = float_product(a, Side::as_it_is, b, Side::as_it_is);
  EXPECT_EQ(got.value(0, 0) + got.rest(0, 0), 0x1p-60);
}

TEST(FloatProduct, ShowsThatAnOperandIsNotFinite) {
  FloatMatrix a = drawn(5, 6, 0, 1), b = drawn(6, 9, 0, 2);
  b(3, 4) = std::numeric_limits<float>::quiet_NaN();
  const FloatProduct got = float_product(a, Side::as_it_is, b, Side::as_it_is);
  for (Eigen::Index i = 0; i < 5; ++i)
    for (Eigen::Index j = 0; j < 9; ++j) EXPECT_EQ(std::isfinite(got.magnitude(i, j)), j != 4);
}

TEST(FloatProduct, RefusesInnerSizesThatDiffer) {
  const FloatMatrix a = drawn(2, 3, 0, 1), b = drawn(4, 2, 0, 2);
  EXPECT_THROW(float_product(a, Side::as_it_is, b, Side::as_it_is), std::logic_error);
}

}  // namespace
}  // namespace tally::oracle::float_product_test
