#include <gtest/gtest.h>

#include "properties/diagnosis/sentences.hpp"

namespace tally::tap_words_test {
namespace {

std::string words(const std::string& tap) { return words_of_tap(tap_name_of(tap)); }

TEST(TapWords, SayWhatATensorIsInTheLoop) {
  EXPECT_EQ(words("w0/m1/loss/in.factor"), "what each item's loss is multiplied by");
  EXPECT_EQ(words("w0/m1/loss/d.y"), "the gradient of the model's output");
  EXPECT_EQ(words("w1/m0/accumulate/in.buffer.fc1.weight"),
            "the gradient (.grad) of fc1.weight before the micro-batch is added");
  EXPECT_EQ(words("w1/m0/accumulate/buffer.fc1.weight"),
            "the gradient (.grad) of fc1.weight with the micro-batch added");
  EXPECT_EQ(words("w0/decay/d.fc1.weight"), "the gradient of fc1.weight with its weight decay");
  EXPECT_EQ(words("w0/clip/d.fc1.weight"), "the clipped gradient of fc1.weight");
  EXPECT_EQ(words("w0/optimizer/fc1.weight"), "the parameter fc1.weight after the step");
  EXPECT_EQ(words("w0/optimizer/exp_avg_sq.fc1.weight"), "the optimizer's exp_avg_sq of fc1.weight");
  EXPECT_EQ(words("w0/optimizer/in.d.fc1.weight"), "the gradient of fc1.weight, as the step reads it");
  EXPECT_EQ(words("w0/optimizer/in.fc1.weight"), "what the step reads of fc1.weight");
  EXPECT_EQ(words("w0/m0/forward/relu#1.y"), "the output of relu#1");
}

TEST(TapWords, AddNothingToANameThatSaysAsMuch) {
  EXPECT_EQ(words("w0/m0/forward/in.fc1.x"), "");
  EXPECT_EQ(words("w0/m0/forward/ln.rstd"), "");
}

}  // namespace
}  // namespace tally::tap_words_test
