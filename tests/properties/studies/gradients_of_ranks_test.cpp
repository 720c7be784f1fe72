#include <gtest/gtest.h>

#include "properties/lab/sweeps/ranks.hpp"

namespace tally::gradients_of_ranks_test {
namespace {

TEST(GradientsOfRanks, CountsTheGradientsOfEachRankAndRepeats) {
  const HeldGradients two = gradients_of_ranks(7, 2, 3), again = gradients_of_ranks(7, 2, 3),
                      six = gradients_of_ranks(7, 6, 3);

  EXPECT_GT(two.gradients, 0u);
  EXPECT_EQ(six.gradients, 3 * two.gradients);
  EXPECT_EQ(two.informative, again.informative);
  EXPECT_LE(two.informative + two.failed, two.gradients);
  EXPECT_EQ(two.failed + six.failed, 0u);
}

}  // namespace
}  // namespace tally::gradients_of_ranks_test
