// What a window does with its recipe, on numbers that can be followed by hand.
#include <gtest/gtest.h>

#include "kernels/training_step/run/run.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::recipe_test {
namespace {

const Tensor& tap(const Trace& trace, const std::string& name) {
  const Tensor* found = trace.find(name);
  if (found == nullptr) throw std::runtime_error(name + " was not tapped");
  return *found;
}

double number(const Trace& trace, const std::string& name) { return tap(trace, name).value(0); }

/// y = w x, mse: one weight, one feature. Gradient of a row: 2 (w x - t) x.
Case one_weight(std::vector<double> x, std::vector<std::vector<std::int64_t>> windows) {
  Case c = small_case();
  c.model.input = 1;
  c.model.layers = {layer_of("linear", "fc", {{"out", std::int64_t{1}}, {"bias", false}})};
  c.model.loss = choice_of("loss", "mse");
  c.windows = std::move(windows);
  const auto rows = static_cast<std::int64_t>(x.size());
  c.tensors = {{"x", Tensor(Dtype::fp32, {rows, 1})},
               {"target", Tensor(Dtype::fp32, {rows, 1})},
               {"fc.weight", Tensor(Dtype::fp32, {1, 1})}};
  for (std::size_t i = 0; i < x.size(); ++i) c.tensors.at("x").set(i, x[i]);
  c.tensors.at("fc.weight").set(0, 1);
  return c;
}

/// The window's gradient of the weight 1 with targets 0: sum of 2 x^2 over the rows, times the factor.
double gradient(Case c, Normalisation normalisation) {
  c.normalisation = normalisation;
  return number(run(c), "w0/unscale/d.fc.weight");
}

TEST(Normalisation, DividesAsTheCaseSays) {
  const Case c = one_weight({1, 1, 2, 4}, {{2, 1, 1}});  // row gradients 2, 2, 8, 32
  EXPECT_EQ(gradient(c, Normalisation::sum), 44);
  EXPECT_EQ(gradient(c, Normalisation::window_items), 11);
  const Case two = one_weight({1, 1, 2, 4, 1, 1}, {{2, 2}, {2}});
  EXPECT_EQ(gradient(two, Normalisation::mean_of_means), 11);  // (2 + 20) / 2
  Case last = two;
  last.normalisation = Normalisation::mean_of_means_configured;
  last.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0"}}});
  EXPECT_EQ(number(run(last), "w1/unscale/d.fc.weight"), 1);  // 2 / K of the first window
  last.normalisation = Normalisation::mean_of_means;
  EXPECT_EQ(number(run(last), "w1/unscale/d.fc.weight"), 2);
}

TEST(Normalisation, GivesAnEmptyWindowAZeroGradientAndItsStep) {
  Case c = small_case();
  for (std::size_t i = 0; i < 5; ++i) c.tensors.at("target").set(i, -100);
  const Trace trace = run(c);
  EXPECT_EQ(number(trace, "w0/m0/loss/in.factor"), 0);
  EXPECT_EQ(number(trace, "w0/schedule/step"), 1);
  EXPECT_TRUE(tap(trace, "w0/optimizer/fc1.weight") == c.tensors.at("fc1.weight"));
}

TEST(LossScale, SkipsTheWholeWindowWhenAnyMicroBatchOverflows) {
  Case c = one_weight({0x1p100, 1, 1, 1}, {{1, 1}, {1, 1}});
  c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}});
  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  const Trace trace = run(c);
  EXPECT_EQ(number(trace, "w0/overflow_check/found"), 1);
  EXPECT_EQ(trace.find("w0/unscale/d.fc.weight"), nullptr);
  EXPECT_EQ(trace.find("w0/optimizer/fc.weight"), nullptr);
  EXPECT_EQ(number(trace, "w0/schedule/step"), 0);
  EXPECT_EQ(number(trace, "w0/scaler/scale"), 512);
  EXPECT_TRUE(tap(trace, "w1/cast/in.fc.weight") == c.tensors.at("fc.weight"));
  EXPECT_EQ(number(trace, "w1/unscale/in.inverse_scale"), 0x1p-9);
  EXPECT_EQ(number(trace, "w1/unscale/d.fc.weight"), 2);  // nothing of the overflow is left in the buffer
  EXPECT_EQ(trace.find("w1/optimizer/in.momentum.fc.weight"), nullptr);
  EXPECT_EQ(number(trace, "w1/optimizer/momentum.fc.weight"), 2);
  EXPECT_EQ(number(trace, "w1/schedule/step"), 1);
}

TEST(LossScale, MovesRunningValuesInASkippedWindow) {
  Case c = case_with_everything();
  c.recipe.loss_scale.options["initial"] = Decimal{"3e38"};
  for (std::size_t i = 0; i < c.tensors.at("fc2.weight").elements(); ++i) c.tensors.at("fc2.weight").set(i, 1e30);
  const Trace trace = run(c);
  ASSERT_EQ(number(trace, "w0/overflow_check/found"), 1);
  EXPECT_FALSE(tap(trace, "w1/m0/running_stats/in.bn.running_mean") == c.tensors.at("bn.running_mean"));
}

TEST(Step, StartsFromTheCasesStateAndCountsOn) {
  Case c = one_weight({1, 1}, {{1}, {1}});
  c.recipe.optimizer = choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  c.recipe.learning_rate = choice_of("learning_rate", "step",
                                     {{"base", Decimal{"1"}}, {"every", std::int64_t{4}}, {"factor", Decimal{"0.25"}}});
  c.tensors["momentum.fc.weight"] = Tensor(Dtype::fp32, {1, 1});
  c.tensors["momentum.fc.weight"].set(0, 8);
  c.tensors["step"] = Tensor(Dtype::i64, {});
  c.tensors["step"].set_bits(0, 3);
  const Trace trace = run(c);
  EXPECT_EQ(number(trace, "w0/optimizer/in.momentum.fc.weight"), 8);
  EXPECT_EQ(number(trace, "w0/optimizer/momentum.fc.weight"), 6);  // 8/2 + 2
  EXPECT_EQ(number(trace, "w0/schedule/learning_rate"), 1);
  EXPECT_EQ(number(trace, "w1/optimizer/in.step"), 4);
  EXPECT_EQ(number(trace, "w1/schedule/learning_rate"), 0.25);
}

TEST(BatchNorm, OfTheWholeWindowEqualsOneMicroBatchOfAllItsRows) {
  Case whole = small_case();
  whole.model.layers.insert(whole.model.layers.begin() + 1,
                            layer_of("batch_norm", "bn", {{"statistics", std::string("window")}}));
  whole.windows = {{5}, {3}};
  fill_tensors(whole);
  Case cut = whole;
  cut.windows = {{2, 3}, {1, 2}};
  const Trace a = run(whole), b = run(cut);
  for (const char* name : {"w0/forward/bn.mean", "w0/forward/bn.var", "w0/running_stats/bn.running_var"}) {
    EXPECT_TRUE(tap(a, name) == tap(b, name)) << name;
  }
  Tensor joined = tap(b, "w0/m0/backward/d.bn.x");
  const Tensor& rest = tap(b, "w0/m1/backward/d.bn.x");
  joined.bytes.own().insert(joined.bytes.own().end(), rest.bytes.begin(), rest.bytes.end());
  EXPECT_EQ(joined.bytes, tap(a, "w0/m0/backward/d.bn.x").bytes);
}

TEST(Decay, LeavesExcludedParametersAlone) {
  Case c = case_with_everything();
  c.recipe.weight_decay.options["exclude"] = std::vector<std::string>{"bias", "norm"};
  const Trace trace = run(c);
  EXPECT_NE(trace.find("w0/decay/fc1.weight"), nullptr);
  EXPECT_EQ(trace.find("w0/decay/fc1.bias"), nullptr);
  EXPECT_EQ(trace.find("w0/decay/ln.weight"), nullptr);
}

}  // namespace
}  // namespace tally::recipe_test
