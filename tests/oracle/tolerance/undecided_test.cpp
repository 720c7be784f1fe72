// An undecided element may be NaN on the subject's side: nothing with a bounded range decides it again.
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/tolerance/elementwise.hpp"
#include "oracle/tolerance/gemm.hpp"
#include "oracle/window/bound_stages.hpp"

namespace tally::oracle::undecided_test {
namespace {

const Claims claims;
const Declared subject = declared(Precision{}, claims);

Choice by_norm() {
  return {"global_norm", {{"max_norm", Decimal{"1"}}, {"norm", std::string("2")}, {"epsilon", Decimal{"0.000001"}}}};
}

TEST(Undecided, StaysSoThroughAFunctionOfSmallRange) {
  const Layer layer{{"tanh", {}}, ""};
  const ExpectedTensors none;
  const Elementary fp32({layer, none, {1}, subject, {}}, ".forward");

  EXPECT_FALSE(decided(tanh_of(fp32, {0.25, infinite})));
  EXPECT_FALSE(decided(erf_of(fp32, {0.25, infinite})));
  EXPECT_TRUE(decided(tanh_of(fp32, {0.25, 1000})));
}

TEST(Undecided, StaysSoThroughAReplayedRelu) {
  const Layer layer{{"relu", {}}, ""};
  const ExpectedTensors none;
  const Decisions inactive{Matrix<double>(Matrix<double>::Zero(1, 2))};
  Expected x{Matrix<long double>::Constant(1, 2, -1), Matrix<double>::Zero(1, 2)};
  x.e(0, 0) = infinite;

  const Expected y = bound_rule("relu").forward({layer, none, {1}, subject, inactive}, x).y;

  EXPECT_EQ(y.e(0, 0), infinite);
  EXPECT_EQ(y.e(0, 1), 0);
}

TEST(Undecided, StaysSoThroughBothClips) {
  const Choice by_value{"value", {{"max_value", Decimal{"0.25"}}}};

  EXPECT_FALSE(decided({0, coefficient(subject, by_norm(), scalar(8, infinite), 0).e(0, 0)}));
  EXPECT_FALSE(decided({0, clipped(subject, by_value, scalar(1), scalar(8, infinite)).e(0, 0)}));
  EXPECT_EQ(static_cast<double>(clipped(subject, by_value, scalar(1), scalar(8, 1)).v(0, 0)), 0.25);
}

TEST(Infinity, IsUndecidedTimesWhatMayBeZero) {
  const Arithmetic fp32 = single(subject);
  const Bounded infinity{-infinite, 0};

  EXPECT_FALSE(decided(fp32.mul(infinity, {0.25, 0.25})));
  EXPECT_FALSE(decided(fp32.mul({0.25, 0.5}, infinity)));
  EXPECT_TRUE(decided(fp32.mul(infinity, {0.25, 0.125})));
  EXPECT_TRUE(std::isnan(fp32.mul(infinity, {0, 0}).v));
}

TEST(Infinity, IsUndecidedInAnInnerProductWithWhatMayBeZero) {
  BoundedMatrix a(1, 2), b(2, 2);
  a.set(0, 0, {infinite, 0});
  a.set(0, 1, {1, 0});
  for (Eigen::Index i = 0; i < 2; ++i) {
    b.set(i, 0, {0.25, 0.125});
    b.set(i, 1, {0.25, 0.5});
  }

  const BoundedMatrix z = product(subject, a, b);

  EXPECT_EQ(z.e(0, 0), 0);
  EXPECT_EQ(z.v(0, 0), infinite);
  EXPECT_EQ(z.e(0, 1), infinite);
}

TEST(Infinity, IsUndecidedBesideFiniteAddendsThatMayOverflowToTheOther) {
  Addends small, large;
  for (Addends* terms : {&small, &large}) terms->add({infinite, 0});
  small.add({-0x1p127, 0});
  for (int i = 0; i < 2; ++i) large.add({-0x1p127, 0});
  BoundedMatrix a(1, 3), b(3, 2);
  for (Eigen::Index k = 0; k < 3; ++k) {
    a.set(0, k, {k == 0 ? infinite : -0x1p120, 0});
    b.set(k, 0, {1, 0});
    b.set(k, 1, {0x1p7, 0});
  }

  EXPECT_TRUE(decided(single(subject).sum(small)));
  EXPECT_FALSE(decided(single(subject).sum(large)));
  EXPECT_EQ(product(subject, a, b).e(0, 0), 0);
  EXPECT_EQ(product(subject, a, b).e(0, 1), infinite);
}

TEST(InfiniteGradients, HaveAnInfiniteNormAndTheCoefficientZero) {
  const Expected infinity = scalar(-INFINITY);

  const Expected n = norm(subject, by_norm(), {{"g", infinity}});
  const Expected c = coefficient(subject, by_norm(), n, 0);

  EXPECT_TRUE(std::isinf(n.v(0, 0)));
  EXPECT_EQ(static_cast<double>(c.v(0, 0)), 0);
  EXPECT_EQ(c.e(0, 0), 0);
}

/// Two associations of one sum may disagree on whether it overflows: then neither is known.
TEST(Wider, IsCertainOfWhatIsNotFiniteOnlyWhereBothAre) {
  const double big = infinite;
  EXPECT_EQ(wider({1, 0x1p-3}, {1, 0x1p-2}).e, 0x1p-2);
  EXPECT_FALSE(decided(wider({big, 0}, {1, 0x1p-2})));
  EXPECT_FALSE(decided(wider({1, 0x1p-2}, {big, 0})));
  EXPECT_FALSE(decided(wider({big, 0}, {-big, 0})));
  EXPECT_TRUE(decided(wider({big, 0}, {big, 0})));
  EXPECT_TRUE(decided(wider({NAN, 0}, {NAN, 0})));
}

}  // namespace
}  // namespace tally::oracle::undecided_test
