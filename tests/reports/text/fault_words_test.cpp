#include "reports/text/fault_words.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

TEST(FaultWords, say_the_smallest_magnitude_as_a_power_of_two) {
  FaultRecord fault;
  EXPECT_EQ(smallest_caught_word(fault), "\u2013");
  fault.smallest_caught = 1;
  EXPECT_EQ(smallest_caught_word(fault), "1");
  fault.smallest_caught = 0.125;
  EXPECT_EQ(smallest_caught_word(fault), "2^-3");
}

TEST(FaultWords, replay_a_case_with_as_much_of_the_bug_as_caught_it) {
  FaultRecord fault;
  fault.name = "mean-of-means";
  EXPECT_EQ(replay_command(fault), "");
  fault.token = "tly1:abc", fault.law = "some_law";
  EXPECT_EQ(replay_command(fault), "tally replay tly1:abc --law some_law --fault mean-of-means");
  fault.magnitude = 0.25;
  EXPECT_EQ(replay_command(fault), "tally replay tly1:abc --law some_law --fault mean-of-means --magnitude 0.25");
}

}  // namespace
}  // namespace tally
