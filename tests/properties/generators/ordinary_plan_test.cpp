#include "properties/generators/ordinary/ordinary_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracle/case/io.hpp"
#include "properties/campaign/training/data.hpp"
#include "properties/generators/choices.hpp"

namespace tally::ordinary_plan_test {
namespace {

constexpr Dtype storages[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(OrdinaryPlans, MakeValidCasesWhoseTokensGiveThemBack) {
  for (const Dtype storage : storages) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Case c = case_of(ordinary_plan(storage, OrdinarySize::small, seed));
      EXPECT_EQ(hash_of(case_of_token(token_of(c))), hash_of(c)) << seed;
    }
  }
}

TEST(OrdinaryPlans, AreAFunctionOfStorageSizeAndSeed) {
  const auto hash = [](std::uint64_t seed) {
    return hash_of(case_of(ordinary_plan(Dtype::bf16, OrdinarySize::small, seed)));
  };
  EXPECT_EQ(hash(5), hash(5));
  EXPECT_NE(hash(5), hash(6));
}

TEST(OrdinaryPlans, ReachEveryValueOfEveryTraitThatEvidenceCounts) {
  std::set<std::string> seen;
  for (const Dtype storage : storages) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      for (const auto& [trait, value] : traits_of(ordinary_plan(storage, OrdinarySize::small, seed))) {
        seen.insert(trait + ": " + value);
      }
    }
  }
  for (const char* expected : {"structure: one linear layer",
                               "structure: plain",
                               "structure: layer_norm",
                               "structure: batch_norm",
                               "linear layers: 1",
                               "linear layers: 6",
                               "activation: relu",
                               "activation: gelu",
                               "activation: tanh",
                               "activation: sigmoid",
                               "input: normal",
                               "input: unit",
                               "input: binary:50",
                               "input: binary:10",
                               "input: one_hot",
                               "input: digits",
                               "formats: fp32",
                               "formats: fp32, TF32",
                               "formats: fp32, buffer bf16",
                               "formats: bf16",
                               "formats: bf16, buffer bf16, master bf16",
                               "formats: fp16, accumulator fp16, buffer fp16",
                               "loss: mse",
                               "loss: cross_entropy",
                               "optimizer: adam",
                               "optimizer: adam, l2",
                               "optimizer: adam, decoupled",
                               "optimizer: sgd",
                               "optimizer: momentum, l2",
                               "optimizer: nesterov, l2",
                               "clip: none",
                               "clip: global_norm",
                               "clip: value",
                               "loss scale: none",
                               "loss scale: static",
                               "loss scale: dynamic",
                               "micro-batches: 1",
                               "micro-batches: 8",
                               "windows: 1",
                               "windows: 3"}) {
    EXPECT_TRUE(seen.contains(expected)) << expected;
  }
  for (const std::string& name : initialisations()) EXPECT_TRUE(seen.contains("initial values: " + name)) << name;
}

TEST(OrdinaryPlans, OfTrueSizeHaveAWeightOfAHundredThousandToAMillionElements) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = ordinary_plan(Dtype::fp32, OrdinarySize::true_size, seed);
    std::int64_t most = 0, features = plan.input;
    for (const Layer& l : plan.hidden) {
      if (l.kind != "linear") continue;
      most = std::max(most, features * l.integer("out"));
      features = l.integer("out");
    }
    most = std::max(most, features * plan.outputs);
    EXPECT_GE(most, 100'000) << seed;
    EXPECT_LE(most, 1 << 20) << seed;
  }
}

TEST(OrdinaryPlans, BeginAsPytorchDoes) {
  Plan plan = ordinary_plan(Dtype::fp32, OrdinarySize::small, 1);
  plan.input = 16;
  plan.hidden = {layer("linear", "fc1", {{"out", std::int64_t{64}}}),
                 layer("batch_norm", "norm1", {{"statistics", std::string("micro_batch")}})};
  plan.values = "pytorch/unit";
  const Case c = case_of(plan);

  const Tensor& weight = c.tensors.at("fc1.weight");
  double most = 0;
  for (std::size_t i = 0; i < weight.elements(); ++i) most = std::max(most, std::abs(weight.value(i)));
  EXPECT_LE(most, 0.25);  // 1 / sqrt(16)
  EXPECT_GT(most, 0.24);
  EXPECT_EQ(c.tensors.at("norm1.weight").value(3), 1);
  EXPECT_EQ(c.tensors.at("norm1.bias").value(3), 0);
  EXPECT_EQ(c.tensors.at("norm1.running_var").value(3), 1);
  EXPECT_THROW(initial_family("no such", plan.hidden[0], {}, 4), std::logic_error);
}

TEST(OrdinaryPlans, ShowDigitsWithWhatTheyShow) {
  Plan plan = ordinary_plan(Dtype::fp32, OrdinarySize::small, 1);
  plan.hidden.clear();
  plan.input = 64;
  plan.outputs = 10;
  plan.loss = choice("loss", "cross_entropy");
  plan.values = "digits";
  plan.seed = 7;
  const Case c = case_of(plan);

  EXPECT_EQ(c.tensors.at("x").value(64 + 5), digits_data().pixels[8 * 64 + 5] / 16.0);
  EXPECT_EQ(c.tensors.at("target").integer(1), digits_data().labels[8]);
}

}  // namespace
}  // namespace tally::ordinary_plan_test
