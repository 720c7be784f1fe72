#include <gtest/gtest.h>

#include "oracle/layers/claim.hpp"
#include "oracle/tolerance/rule.hpp"

namespace tally::order_of_sum_test {
namespace {

const OrderOfSum lanes_of_eight{{SumStep::in_order_below, 64}, {SumStep::lanes, 8}, {SumStep::tree}};
const OrderOfSum in_chunks{{SumStep::chunks, 4096}, {SumStep::lanes, 256}, {SumStep::tree},
                           {SumStep::meet},         {SumStep::lanes, 256}, {SumStep::tree}};

TEST(OrderOfSum, WithoutStepsIsAnyOrder) {
  for (const double n : {1, 2, 100}) EXPECT_EQ(additions_of({}, n), n - 1);
  EXPECT_EQ(additions_of({}, 0), 0);
}

TEST(OrderOfSum, CountsTheAdditionsOfEachStep) {
  EXPECT_EQ(additions_of({{SumStep::tree}}, 1024), 10);
  EXPECT_EQ(additions_of({{SumStep::tree}}, 1025), 11);
  EXPECT_EQ(additions_of({{SumStep::runs, 16}}, 33), 15 + 2);
  EXPECT_EQ(additions_of({{SumStep::lanes, 8}}, 33), 4 + 7);
  EXPECT_EQ(additions_of(lanes_of_eight, 63), 62);
  EXPECT_EQ(additions_of(lanes_of_eight, 64), 7 + 3);
}

TEST(OrderOfSum, NeverCountsMoreThanOneAdditionAnAddend) {
  EXPECT_EQ(additions_of({{SumStep::lanes, 32}, {SumStep::tree}}, 2), 1);
  EXPECT_EQ(additions_of({{SumStep::runs, 4}, {SumStep::tree}}, 3), 2);
}

TEST(OrderOfSum, AddsTheTwoStagesOfChunksThatMeet) {
  EXPECT_EQ(additions_of(in_chunks, 4096), 15 + 8);
  EXPECT_EQ(additions_of(in_chunks, 4097), 15 + 8 + 1);
  EXPECT_EQ(additions_of(in_chunks, 1070000), 15 + 8 + 1 + 8);  // 262 chunks
}

TEST(OrderOfSum, CutsEveryTensorIntoChunksOfItsOwn) {
  const std::vector<double> many(300, 1.0);  // a chunk each: two for some threads of the second stage
  EXPECT_EQ(additions_of(in_chunks, many), 1 + 8);
  EXPECT_EQ(additions_of(in_chunks, std::vector<double>{4096, 0, 1}), 15 + 8 + 1);
}

TEST(OrderOfSum, LooksIntoTheShortChunkToo) {
  const OrderOfSum order{{SumStep::chunks, 100}, {SumStep::in_order_below, 64}, {SumStep::tree}, {SumStep::meet}};
  EXPECT_EQ(additions_of(order, 100), 7);
  EXPECT_EQ(additions_of(order, 163), 62 + 1);
}

TEST(OrderOfSum, IsRefusedWhereItsStepsAreNone) {
  EXPECT_EQ(wrong_with(in_chunks), "");
  EXPECT_EQ(wrong_with({{SumStep::lanes, 0}}), "lanes 0");
  EXPECT_EQ(wrong_with({{SumStep::tree, 2}}), "a number behind tree");
  EXPECT_EQ(wrong_with({{SumStep::chunks, 8}}), "chunks that do not meet once");
  EXPECT_EQ(wrong_with({{SumStep::tree}, {SumStep::meet}}), "a meet without chunks");
  EXPECT_EQ(wrong_with({{SumStep::tree}, {SumStep::chunks, 8}}), "chunks behind another step");
  EXPECT_THROW(additions_of({{SumStep::runs, -1}}, 3), std::logic_error);
}

TEST(HeightOfAClaim, IsTheSmallerOfItsNumberAndItsSteps) {
  EXPECT_EQ(oracle::height_of({}, 100), 99);
  EXPECT_EQ(oracle::height_of({.variant = "v", .height = 40}, 100), 40);
  EXPECT_EQ(oracle::height_of({.variant = "v", .height = 40}, 30), 29);
  EXPECT_EQ(oracle::height_of({.variant = "v", .height = 40, .additions = {{SumStep::tree}}}, 100), 7);
  EXPECT_EQ(oracle::height_of({.variant = "v", .height = 4, .additions = {{SumStep::tree}}}, 100), 4);
}

}  // namespace
}  // namespace tally::order_of_sum_test
