#include <gtest/gtest.h>

#include <stdexcept>

#include "reports/compare/comparison.hpp"

namespace tally::timing_test {
namespace {

TEST(Timing, DecidesFromFivePairsThatAgreeAndNotFromFour) {
  EXPECT_EQ(timing_of({10, 11, 10, 12, 10}, {12, 13, 12, 14, 12}).verdict, "slower");
  EXPECT_EQ(timing_of({12, 13, 12, 14, 12}, {10, 11, 10, 12, 10}).verdict, "faster");
  EXPECT_EQ(timing_of({10, 11, 10, 12}, {12, 13, 12, 14}).verdict, "undecided");
  EXPECT_EQ(timing_of({10, 11, 10, 12, 10}, {12, 13, 9, 14, 9}).verdict, "undecided");
}

TEST(Timing, IsPaired) {
  const Timing timing = timing_of({1, 10, 100}, {2, 20, 200});
  EXPECT_EQ(timing.factor, 2);
  EXPECT_EQ(timing.low, 2);
  EXPECT_EQ(text_of(timing), "time of the campaign 2x [2, 2] undecided, 3 pairs of runs");
  EXPECT_THROW(timing_of({1}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace tally::timing_test
