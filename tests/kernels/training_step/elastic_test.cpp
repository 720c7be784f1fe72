// Two ranks, then three, then one: every number by hand.
//   y = w x, loss (w x)^2 of N rows, so that the gradient is 2 / N sum w x^2; momentum m <- m / 2 + g, w <- w - m / 2.
//   w0, rows 1 and 1:    g = 2,  m = 2,   w = 1 - 1 = 0
//   w1, rows 2, 1 and 3: g = 0,  m = 1,   w = 0 - 1/2 = -1/2
//   w2, row 1:           g = -1, m = -1/2, w = -1/2 + 1/4 = -1/4
#include <gtest/gtest.h>

#include "kernels/training_step/run/cost.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"
#include "oracle/case/rank_keys.hpp"

namespace tally::elastic_test {
namespace {

Case two_three_one() {
  return read_case(R"({"tally_case": 3, "model": {"input": 1, "layers": [
    {"kind": "linear", "name": "fc", "out": 1, "bias": false}], "loss": {"kind": "mse"}},
    "windows": [[[1], [1]], [[2], [], [1]], [[1]]],
    "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
    "recipe": {"optimizer": {"kind": "sgd", "momentum": 0.5}, "learning_rate": {"kind": "constant", "base": 0.5},
    "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},
    "tensors": {"fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [1]},
    "x": {"dtype": "fp32", "shape": [6, 1], "data": [1, 1, 2, 1, 3, 1]},
    "target": {"dtype": "fp32", "shape": [6, 1], "data": [0, 0, 0, 0, 0, 0]}}})",
                   ".");
}

double value(const Trace& trace, const std::string& tap) {
  const Tensor* found = trace.find(tap);
  if (found == nullptr) ADD_FAILURE() << "no tap " << tap;
  return found == nullptr ? 0 : found->value(0);
}

TEST(Elastic, LeavesTheNumbersWorkedOutByHand) {
  for (const std::string sharding : {"none", "optimizer", "gradients", "parameters"}) {
    const Trace trace = run(with_rank_option(two_three_one(), "sharding", sharding));

    EXPECT_EQ(value(trace, "w0/r0/optimizer/fc.weight"), 0) << sharding;
    EXPECT_EQ(value(trace, "w0/r0/checkpoint/in.momentum.fc.weight"), 2) << sharding;
    EXPECT_EQ(value(trace, "w1/r0/checkpoint/momentum.fc.weight"), 2) << sharding;
    EXPECT_EQ(value(trace, "w1/r0/optimizer/fc.weight"), -0.5) << sharding;
    EXPECT_EQ(value(trace, "w2/r0/checkpoint/fc.weight"), -0.5) << sharding;
    EXPECT_EQ(value(trace, "w2/r0/checkpoint/step"), 2) << sharding;
    EXPECT_EQ(value(trace, "w2/r0/optimizer/momentum.fc.weight"), -0.5) << sharding;
    EXPECT_EQ(value(trace, "w2/r0/optimizer/fc.weight"), -0.25) << sharding;
    EXPECT_TRUE(trace.violations.empty()) << sharding;
  }
}

TEST(Elastic, TapsEveryRankThatThereIsAndNoOther) {
  const Trace trace = run(two_three_one());

  EXPECT_NE(trace.find("w1/r2/schedule/step"), nullptr);
  EXPECT_EQ(trace.find("w0/r2/schedule/step"), nullptr);
  EXPECT_NE(trace.find("w2/r0/schedule/step"), nullptr);
  EXPECT_EQ(trace.find("w2/r1/schedule/step"), nullptr);
  EXPECT_EQ(trace.case_hash, hash_of(two_three_one()));
}

TEST(Elastic, KeepsTheLastStateWhereNothingIsTapped) {
  RunOptions untapped;
  untapped.taps = false;

  EXPECT_EQ(value(run(two_three_one(), untapped), "w2/r0/optimizer/fc.weight"), -0.25);
}

TEST(Elastic, CountsTheMemoryOfAsManyRanksAsThereEverAre) {
  EXPECT_EQ(memory_of_ranks(two_three_one(), {}).size(), 3u);
}

}  // namespace
}  // namespace tally::elastic_test
