// Two micro-batches have an order in any case: single rows show whether it is the cause.
#include <gtest/gtest.h>

#include "properties/diagnosis/vary/vary_verdict.hpp"
#include "tests/properties/vary/small_loop.hpp"

namespace tally::order_of_two_test {
namespace {

using samples::judged;
using samples::loop_of;

VaryWeights* of_single_rows(VaryRuns& runs) {
  for (VaryWeights& weights : runs.weights)
    if (weights.how.sizes.size() == 8) return &weights;
  return nullptr;
}

TEST(OrderOfTwo, SeesAnOrderInTwoOnlyWhereSingleRowsShowIt) {
  VaryRuns runs;
  judged(loop_of("clips before the last"), runs);
  VaryWeights* single = of_single_rows(runs);
  ASSERT_NE(single, nullptr);
  single->found[4] = single->found[0] / 2;

  EXPECT_EQ(vary_verdict(runs).cause, "weights");
}

TEST(OrderOfTwo, SeesAnOrderOfTwoInSingleRowsTheFirstOfWhichCountTooLittleToBeSeen) {
  VaryRuns runs;
  judged(loop_of("clips before the last"), runs);
  VaryWeights* single = of_single_rows(runs);
  ASSERT_NE(single, nullptr);
  for (std::size_t k = 0; k < 8; ++k) single->found[k] = 0.125 * std::pow(0x1p-7, 7 - double(k));

  EXPECT_EQ(vary_verdict(runs).cause, "each later counts more");
}

TEST(OrderOfTwo, AsksSingleRowsWhetherTheLastOfTwoIsAlone) {
  VaryRuns runs;
  judged(loop_of("last alone"), runs);
  VaryWeights* single = of_single_rows(runs);
  ASSERT_NE(single, nullptr);
  EXPECT_EQ(vary_verdict(runs).cause, "the last alone");
  single->found.assign(8, 0.125), single->found[0] = 0;

  EXPECT_EQ(vary_verdict(runs).cause, "0");
  EXPECT_EQ(vary_verdict(runs).what, "micro-batch 0 of 2 leaves nothing in the gradient");
}

}  // namespace
}  // namespace tally::order_of_two_test
