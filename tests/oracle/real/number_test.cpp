#include "oracle/real/number.hpp"

#include <gtest/gtest.h>

#include "oracle/real/product.hpp"
#include "oracle/real/real.hpp"
#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::number_test {
namespace {

TEST(Number, MeansTheDecimalNotTheDoubleNearestToIt) {
  const DigitsScope scope(60);

  EXPECT_EQ(decimal_text(number<Real>({"0.1"}), 60), "0.1");
  EXPECT_EQ(number<Real>({"1e-5"}) * 100000, 1);
  EXPECT_EQ(number<long double>({"0.1"}), 0.1L);
  EXPECT_NE(number<long double>({"0.1"}), static_cast<long double>(0.1));
}

TEST(Number, FollowsThePrecisionThatIsSet) {
  const DigitsScope scope(30);
  const Real few = number<Real>({"0.1"});
  set_digits(90);
  const Real many = number<Real>({"0.1"});

  EXPECT_NE(few, many);
  EXPECT_EQ(decimal_text(many, 90), "0.1");
}

TEST(Number, RefusesTextThatIsNoDecimal) {
  EXPECT_THROW(number<Real>({"ten"}), std::logic_error);
  EXPECT_THROW(number<long double>({"1.5x"}), std::logic_error);
}

TEST(DecimalText, KeepsSignExponentAndDigits) {
  const DigitsScope scope(60);
  const auto text = [](const char* decimal, unsigned digits) { return decimal_text(number<Real>({decimal}), digits); };

  EXPECT_EQ(text("-65536", 30), "-65536");
  EXPECT_EQ(text("0.000015", 30), "0.000015");
  EXPECT_EQ(text("1.5e-12", 30), "1.5e-12");
  EXPECT_EQ(text("-2e40", 30), "-2e40");
  EXPECT_EQ(text("0.99996", 4), "1");
  EXPECT_EQ(text("123456", 3), "123000");
  EXPECT_EQ(text("12.75", 30), "12.75");
  EXPECT_EQ(text("-0.0", 30), "0");
}

TEST(Lift, TakesRowsOfMatricesAndElementsOfVectors) {
  const Tensor matrix = stored(5, 3, 1), vector = stored(5, 2);

  EXPECT_EQ(lift<long double>(matrix)(4, 2), matrix.value(14));
  EXPECT_EQ(lift_rows<long double>(matrix, 2, 2)(1, 0), matrix.value(9));
  EXPECT_EQ(lift_rows<long double>(vector, 2, 3), lift<long double>(vector).rightCols(3));
}

TEST(Product, MultipliesAndTransposes) {
  const DigitsScope scope(40);
  const Matrix<double> a = drawn(4, 3, 1), b = drawn(3, 5, 2), c = drawn(5, 3, 3), d = drawn(4, 2, 4);
  const auto wide = [](const Matrix<double>& m) { return Matrix<Real>(m.cast<Real>()); };

  // Dyadic operands: every sum is exact, in double too.
  EXPECT_EQ(product(wide(a), wide(b)), wide(a * b));
  EXPECT_EQ(product_with_transposed(wide(a), wide(c)), wide(a * c.transpose()));
  EXPECT_EQ(product_of_transposed(wide(a), wide(d)), wide(a.transpose() * d));
  EXPECT_EQ(column_sums(wide(a)), wide(a.colwise().sum()));
  EXPECT_THROW(product(wide(a), wide(c)), std::logic_error);
}

}  // namespace
}  // namespace tally::oracle::number_test
