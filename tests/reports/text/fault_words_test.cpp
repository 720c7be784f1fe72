#include <gtest/gtest.h>

#include "reports/text/words.hpp"

namespace tally::fault_words_test {
namespace {

TEST(FaultWords, SayTheSmallestMagnitudeAsAPowerOfTwo) {
  FaultRecord fault;
  EXPECT_EQ(smallest_caught_word(fault), "\u2013");
  fault.smallest_caught = 1;
  EXPECT_EQ(smallest_caught_word(fault), "1");
  fault.smallest_caught = 0.125;
  EXPECT_EQ(smallest_caught_word(fault), "2^-3");
}

}  // namespace
}  // namespace tally::fault_words_test
