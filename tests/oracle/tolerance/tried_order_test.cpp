#include <gtest/gtest.h>

#include "oracle/tolerance/summation.hpp"

namespace tally::oracle::tried_order_test {
namespace {

/// Beside 2^24 in fp32, 1 is half an ulp: a tie, which goes to the even side.
const std::vector<double> swallowed = {0x1p24, 1, 1, 1};

double sum(const TriedOrder& order, const OrderOfSum& claimed = {}) { return added(order, claimed, swallowed); }

TEST(TriedOrder, AddsOneAfterAnother) {
  EXPECT_EQ(sum({{}}), 0x1p24);
  EXPECT_EQ(sum({{}, true}), 0x1p24 + 4);
}

TEST(TriedOrder, AddsBySteps) {
  EXPECT_EQ(sum({{{SumStep::tree}}}), 0x1p24 + 2);  // (2^24 + 1) + (1 + 1)
  EXPECT_EQ(sum({{{SumStep::lanes, 3}, {SumStep::tree}}}), 0x1p24);
  EXPECT_EQ(sum({{{SumStep::runs, 2}}}), 0x1p24 + 2);
  EXPECT_EQ(sum({{{SumStep::in_order_below, 5}, {SumStep::tree}}}), 0x1p24);
}

TEST(TriedOrder, TakesTheClaimedStepsWhereItIsTo) {
  const OrderOfSum tree = {{SumStep::tree}}, over_tensors = {{SumStep::chunks, 2}, {SumStep::meet}};
  EXPECT_EQ(sum({{}, false, true}, tree), 0x1p24 + 2);
  EXPECT_EQ(sum({{}, false, true}, over_tensors), 0x1p24);
  EXPECT_EQ(sum({{}}, tree), 0x1p24);
}

TEST(TriedOrder, AddsNothingToZero) { EXPECT_EQ(added(tried_orders().front(), {}, std::vector<double>()), 0); }

TEST(TriedOrder, MultipliesRoundingEachProduct) {
  Matrix<double> a(1, 3), b(3, 2), c(1, 2);
  a << 0x1p24, 1, 1;
  b << 1, 0x1.000002p0, 1, 2, 1, 2;
  c << 4, -0x1p24;
  for (const TriedOrder& order : tried_orders()) {
    const Matrix<double> onto = multiplied(order, {}, c, a, b);
    EXPECT_GE(onto(0, 0), 0x1p24 + 4);
    EXPECT_LE(onto(0, 0), 0x1p24 + 8);
    EXPECT_EQ(onto(0, 1), 6);
  }
  EXPECT_EQ(multiplied(tried_orders().front(), {}, {}, a, b)(0, 0), 0x1p24);
}

}  // namespace
}  // namespace tally::oracle::tried_order_test
