#include "properties/studies/sweeps/told_of_ranks.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

TEST(ToldOfRanks, CountsTheGradientsOfEachRankAndRepeats) {
  const Told two = told_of_ranks(7, 2, 3), again = told_of_ranks(7, 2, 3), six = told_of_ranks(7, 6, 3);

  EXPECT_GT(two.gradients, 0u);
  EXPECT_EQ(six.gradients, 3 * two.gradients);
  EXPECT_EQ(two.told, again.told);
  EXPECT_LE(two.told + two.failed, two.gradients);
  EXPECT_EQ(two.failed + six.failed, 0u);
}

}  // namespace
}  // namespace tally
