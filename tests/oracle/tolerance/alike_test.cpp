#include <gtest/gtest.h>

#include <cmath>

#include "oracle/tolerance/summation.hpp"

namespace tally::oracle::alike_test {
namespace {

TEST(Alike, CountsHowManyLieTogether) {
  EXPECT_EQ(alike({}, 1), 1);
  EXPECT_EQ(alike({1, 2, 3}, 0), 1);
  EXPECT_EQ(alike({1, -1, 1, 1}, 0), 4);  // by magnitude
  EXPECT_EQ(alike({1, 0, 0, 0}, 0), 1);   // zeros err nothing
  EXPECT_EQ(alike({1, 1, 2, 2}, 0), 2);
  EXPECT_EQ(alike({1, 1.25, 1.5, 4}, 0.5), 2.5);  // three of three, one of one
}

TEST(Alike, EndsWhereNothingIsFinite) {
  EXPECT_EQ(alike({1, 2, 3}, NAN), 3);  // taken to be alike
  EXPECT_EQ(alike({INFINITY, NAN}, INFINITY), 1);
  EXPECT_EQ(alike({1, INFINITY, 2}, INFINITY), 2);
}

TEST(SharedAddends, GrowWithWhatRecursInBothFactors) {
  const Matrix<double> ones = Matrix<double>::Ones(8, 3);
  Matrix<double> differing(3, 5);
  differing << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15;
  EXPECT_EQ(shared_addends(ones, differing, 0x1p-24), 8);
  EXPECT_EQ(shared_addends(differing.transpose(), differing, 0x1p-24), 1);
  EXPECT_EQ(shared_addends(ones, Matrix<double>::Ones(3, 5), 0x1p-24), 40);
  EXPECT_EQ(shared_addends(Matrix<double>::Ones(2, 3), differing, 0x1p-24), 2);  // two rows may be alike, one alone not
  EXPECT_EQ(shared_addends(Matrix<double>::Ones(1, 3), differing, 0x1p-24), 1);
  EXPECT_EQ(shared_addends_of_columns(ones, 0x1p-24), 3);
}

TEST(SharedAddends, EndWhereNothingIsFinite) {
  const Matrix<double> infinities = Matrix<double>::Constant(4, 4, INFINITY);
  EXPECT_EQ(shared_addends(infinities, infinities, 0x1p-24), 1);
}

}  // namespace
}  // namespace tally::oracle::alike_test
