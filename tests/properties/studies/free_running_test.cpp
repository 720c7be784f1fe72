#include <gtest/gtest.h>

#include <cmath>

#include "oracle/case/io.hpp"
#include "oracle/exact/trajectory.hpp"
#include "properties/lab/sweeps/drift.hpp"

namespace tally::free_running_test {
namespace {

TEST(StepsCase, IsValidAndDiffersBySeedAlone) {
  const Case c = steps_case(Dtype::fp16, 3, 1);

  EXPECT_TRUE(validate(c).empty());
  EXPECT_EQ(c.windows.size(), 3u);
  EXPECT_TRUE(steps_case(Dtype::fp16, 3, 1) == c);
  EXPECT_FALSE(steps_case(Dtype::fp16, 3, 2).tensors.at("fc1.weight") == c.tensors.at("fc1.weight"));
}

TEST(FreeRun, HoldsOneEntryAWindowAndStaysInsideTheLocalBounds) {
  const FreeRun run = free_run(steps_case(Dtype::fp32, 3, 1), {});

  for (const auto* series : {&run.drift, &run.distance, &run.local}) EXPECT_EQ(series->size(), 3u);
  EXPECT_EQ(run.failing, 0);
  for (const double r : run.local) EXPECT_LE(r, 1);
  for (std::size_t w = 0; w < 3; ++w) EXPECT_GT(run.distance[w], run.drift[w]);  // it moves less than its size
}

TEST(FreeRun, FollowsEachWindowMoreCloselyThanOneStepIsLong) {
  const Case c = steps_case(Dtype::fp32, 3, 1);
  const auto exact = oracle::trajectory<long double>(c, oracle::Branch::accumulated);

  const FreeRun run = free_run(c, {});

  for (std::size_t w = 1; w < 3; ++w) {
    long double step = 0, size = 0;
    for (const auto& [name, slot] : exact[w].after.slots) {
      step += (slot.parameter - exact[w - 1].after.slots.at(name).parameter).squaredNorm();
      size += slot.parameter.squaredNorm();
    }
    EXPECT_LT(run.drift[w], static_cast<double>(std::sqrt(step / size)) / 2) << w;
  }
}

TEST(FreeRun, DriftsFurtherInHalfThanInSingle) {
  const FreeRun single = free_run(steps_case(Dtype::fp32, 2, 1), {}),
                half = free_run(steps_case(Dtype::fp16, 2, 1), {});

  for (std::size_t w = 0; w < 2; ++w) EXPECT_GT(half.drift[w], single.drift[w]);
}

TEST(FreeRun, ComesBackFromItsNumbers) {
  FreeRun run{{1, 2}, {3, 4}, {5, 6}, 7, 8};

  EXPECT_EQ(FreeRun::of(run.numbers()).numbers(), run.numbers());
  EXPECT_EQ(FreeRun::of(run.numbers()).local, run.local);
}

}  // namespace
}  // namespace tally::free_running_test
