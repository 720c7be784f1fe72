#include "properties/diagnosis/sentences.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tally::sentences_test {
namespace {

TensorCheck failing(double bound, double ratio) {
  TensorCheck check;
  check.tap = "w0/norm/norm", check.lens = "local";
  check.expected = 1, check.got = 2, check.error = 1;
  check.bound = bound, check.worst_ratio = ratio;
  return check;
}

TEST(Sentences, TellHowOftenTheBoundFitsIntoTheError) {
  EXPECT_EQ(sentence_of(failing(0.25, 4), ""),
            "w0/norm/norm[] by the local lens: expected 1, got 2, ratio 2; error 1, bound 0.25 (4x)");
}

TEST(Sentences, TellNoRatioToABoundOfNothing) {
  EXPECT_EQ(sentence_of(failing(0, std::numeric_limits<double>::infinity()), ""),
            "w0/norm/norm[] by the local lens: expected 1, got 2, ratio 2; error 1, bound 0");
}

TEST(Sentences, TellOtherBitsOfOneValueAsWhatTheyAre) {
  TensorCheck check = failing(0, 0);
  check.expected = check.got = check.error = 0;
  check.elements = 4, check.differing = 2, check.failure = FailureClass::logic;

  EXPECT_EQ(sentence_of(check, ""),
            "w0/norm/norm[] by the local lens: 2 of 4 elements differ in bits but not in value: the sign of a zero, "
            "or the order of equal elements");
}

}  // namespace
}  // namespace tally::sentences_test
