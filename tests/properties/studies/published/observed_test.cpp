// What the rules are given of two runs.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/training_step/run/run.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/plan.hpp"
#include "properties/lab/published/rule.hpp"

namespace tally::observed_test {
namespace {

/// Linear 3-2 in fp32, two windows of 2 + 2 rows.
Plan small_plan() {
  Plan plan;
  plan.input = 3;
  plan.outputs = 2;
  plan.windows = {{2, 2}, {2, 2}};
  plan.loss = choice("loss", "mse");
  plan.recipe.optimizer = choice("optimizer", "sgd");
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  return plan;
}

std::vector<std::string> names_of(const ComparedRuns& comparison) {
  std::vector<std::string> names;
  for (const ComparedTensor& tensor : comparison.tensors) names.push_back(tensor.name);
  return names;
}

const ComparedTensor& named(const ComparedRuns& comparison, const std::string& name) {
  for (const ComparedTensor& tensor : comparison.tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::logic_error(name + " was not compared");
}

TEST(Observed, AreTheGradientsAndParametersAfterEveryWindow) {
  const Case c = case_of(small_plan());
  const Trace trace = run(c), full = run(full_batch_of(c));

  const ComparedRuns comparison = comparison_of(c, trace, full, full);

  EXPECT_EQ(names_of(comparison),
            (std::vector<std::string>{"w0/optimizer/out.bias", "w0/optimizer/out.weight", "w0/unscale/d.out.bias",
                                      "w0/unscale/d.out.weight", "w1/optimizer/out.bias", "w1/optimizer/out.weight",
                                      "w1/unscale/d.out.bias", "w1/unscale/d.out.weight"}));
  EXPECT_EQ(names_of(first_gradients(comparison)),
            (std::vector<std::string>{"w0/unscale/d.out.bias", "w0/unscale/d.out.weight"}));
}

TEST(Observed, CarryTheBitsOfBothRuns) {
  const Case c = case_of(small_plan());
  const Trace trace = run(c), full = run(full_batch_of(c));

  const ComparedRuns comparison = comparison_of(c, trace, full, trace);

  for (const std::string name : {"w1/unscale/d.out.weight", "w1/optimizer/out.weight"}) {
    const ComparedTensor& tensor = named(comparison, name);
    ASSERT_EQ(tensor.got.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(tensor.got[i], trace.find(name)->value(i)) << name;
      EXPECT_EQ(tensor.reference[i], full.find(name)->value(i)) << name;
      EXPECT_EQ(tensor.precise[i], trace.find(name)->value(i)) << name;
    }
  }
}

TEST(Observed, SeeASkippedWindowLeaveNoGradientAndTheOldParameters) {
  Plan plan = small_plan();
  plan.gradient_magnitude = 0x1p100;
  plan.recipe.loss_scale = choice("loss_scale", "dynamic", {{"initial", Decimal{"1152921504606846976"}}});
  const Case c = case_of(plan);
  const Trace skipped = run(c), full = run(full_batch_of(c));
  ASSERT_EQ(skipped.find("w0/unscale/d.out.weight"), nullptr);

  const ComparedRuns comparison = comparison_of(c, skipped, full, full);

  EXPECT_EQ(names_of(first_gradients(comparison)), std::vector<std::string>{});
  const ComparedTensor& weight = named(comparison, "w0/optimizer/out.weight");
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(weight.got[i], c.tensors.at("out.weight").value(i));
}

TEST(Observed, LeaveOutAWindowThatARunDidNotFinish) {
  const Case c = case_of(small_plan());
  const Trace full = run(full_batch_of(c));
  const Trace whole = run(c);
  Trace stopped;
  for (const Tap& tap : whole.taps()) {
    if (tap.name.window == 0 || tap.name.stage != "schedule") stopped.add(tap.name, tap.value);
  }

  const ComparedRuns comparison = comparison_of(c, stopped, full, full);

  EXPECT_EQ(comparison.tensors.size(), 4u);
  for (const std::string& name : names_of(comparison)) EXPECT_TRUE(name.starts_with("w0/")) << name;
}

TEST(Observed, KnowTheProductBehindALinearLayersGradient) {
  const Case c = case_of(small_plan());
  const Trace full = run(full_batch_of(c));

  const ComparedRuns comparison = comparison_of(c, run(c), full, full);

  const ComparedTensor& weight = named(comparison, "w0/unscale/d.out.weight");
  const ComparedTensor& bias = named(comparison, "w0/unscale/d.out.bias");
  ASSERT_TRUE(weight.product && bias.product);
  double of_x = 0, of_dy = 0;
  for (std::size_t i = 0; i < 12; ++i) of_x += std::pow(c.tensors.at("x").value(i), 2);
  for (std::size_t i = 0; i < 8; ++i) of_dy += std::pow(full.find("w0/m0/loss/d.y")->value(i), 2);
  EXPECT_EQ(weight.product->k, 4);
  EXPECT_EQ(weight.product->norm_a, std::sqrt(of_dy));
  EXPECT_EQ(weight.product->norm_b, std::sqrt(of_x));
  EXPECT_EQ(bias.product->norm_b, 2);
  EXPECT_FALSE(named(comparison, "w0/optimizer/out.weight").product);
}

TEST(InFp32, KeepsEveryValueAndWidensWhatIsStored) {
  Plan plan = small_plan();
  plan.precision.storage = Dtype::bf16;
  const Case c = case_of(plan);

  const Case wide = in_fp32(c);

  EXPECT_EQ(wide.precision.storage, Dtype::fp32);
  for (const auto& [name, tensor] : wide.tensors) {
    EXPECT_NE(tensor.dtype, Dtype::bf16) << name;
    for (std::size_t i = 0; i < tensor.elements(); ++i) EXPECT_EQ(tensor.value(i), c.tensors.at(name).value(i));
  }
}

}  // namespace
}  // namespace tally::observed_test
