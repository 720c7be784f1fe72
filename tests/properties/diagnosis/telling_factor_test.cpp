#include <gtest/gtest.h>

#include "properties/diagnosis/explained.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"

namespace tally::telling_factor_test {
namespace {

/// Micro-batches of 2, 3 and 5 rows, every row an item, loss scale 256.
Case three_micro_batches() {
  Plan plan;
  plan.input = 2;
  plan.outputs = 1;
  plan.loss = choice("loss", "mse");
  plan.windows = {{2, 3, 5}};
  plan.recipe = {choice("optimizer", "sgd", {{"momentum", Decimal{"0"}}}),
                 choice("learning_rate", "constant", {{"base", Decimal{"0.5"}}}), choice("weight_decay", "none"),
                 choice("clip", "none"), choice("loss_scale", "static", {{"scale", Decimal{"256"}}})};
  return case_of(plan);
}

TEST(TellingFactor, NamesWhatTheWindowIsMadeOf) {
  const Case c = three_micro_batches();

  EXPECT_EQ(telling_factor(c, 0, 1, Dtype::fp32, 1.0 / 3), "1/K with K = 3");
  EXPECT_EQ(telling_factor(c, 0, 1, Dtype::fp32, 2.0 / 3), "(K-1)/K with K = 3");
  EXPECT_EQ(telling_factor(c, 0, 1, Dtype::fp32, 0.3), "n_k/N with n_k = 3, N = 10");
  EXPECT_EQ(telling_factor(c, 0, -1, Dtype::fp32, 0.1), "1/N with N = 10");
  EXPECT_EQ(telling_factor(c, 0, -1, Dtype::fp32, 256), "the loss scale");
  EXPECT_EQ(telling_factor(c, 0, -1, Dtype::fp32, 0.5), "one half");
}

TEST(TellingFactor, SaysNothingOfOneAndOfAnyOtherNumber) {
  const Case c = three_micro_batches();

  EXPECT_EQ(telling_factor(c, 0, 1, Dtype::fp32, 1), "");
  EXPECT_EQ(telling_factor(c, 0, 1, Dtype::fp32, 0.777), "");
  EXPECT_EQ(telling_factor(c, 0, 1, Dtype::fp32, 0.334), "");
  EXPECT_EQ(telling_factor(c, 0, -1, Dtype::fp32, 0.3), "") << "n_k/N belongs to a micro-batch";
}

TEST(TellingFactor, IsAsSharpAsTheFormat) {
  const Case c = three_micro_batches();

  EXPECT_EQ(telling_factor(c, 0, -1, Dtype::fp16, 0.33325), "1/K with K = 3");
  EXPECT_EQ(telling_factor(c, 0, -1, Dtype::fp32, 0.33325), "");
}

}  // namespace
}  // namespace tally::telling_factor_test
