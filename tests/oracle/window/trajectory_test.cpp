#include "oracle/exact/trajectory.hpp"

#include <gtest/gtest.h>

#include "tests/oracle/window/small_case.hpp"

namespace tally::oracle::trajectory_test {
namespace {

using Wide = long double;

Case training_case(const std::string& statistics) {
  Case c = small_case({{3, 2}, {2, 2}}, statistics);
  c.recipe.optimizer.options["momentum"] = Decimal{"0.5"};
  c.recipe.learning_rate = {"step", {{"base", Decimal{"0.5"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.5"}}}};
  c.recipe.loss_scale = {"dynamic",
                         {{"initial", Decimal{"1024"}},
                          {"growth_factor", Decimal{"2"}},
                          {"backoff_factor", Decimal{"0.5"}},
                          {"growth_interval", std::int64_t{1}},
                          {"growth_counter", std::int64_t{0}}}};
  return c;
}

TEST(Trajectory, CarriesStateFromWindowToWindow) {
  const auto answers = trajectory<Wide>(training_case("window"), Branch::accumulated);

  EXPECT_EQ(answers[0].learning_rate, 0.5L);
  EXPECT_EQ(answers[1].learning_rate, 0.25L);
  EXPECT_EQ(answers[1].loss_scale, 2048);
  EXPECT_EQ(answers[1].after.step, 2);
  const Matrix<Wide> expected =
      0.5L * answers[0].after.slots.at("fc2.weight").state.at(0) + answers[1].grad.at("fc2.weight");
  EXPECT_EQ(answers[1].after.slots.at("fc2.weight").state.at(0), expected);
}

TEST(Trajectory, FreezesAllButScaleAndRunningValuesInASkippedWindow) {
  const Case c = training_case("micro_batch");
  const State<Wide> before = initial_state<Wide>(c);

  const auto taken = evaluate_window<Wide>(c, 0, Branch::accumulated, before);
  const auto skipped = evaluate_window<Wide>(c, 0, Branch::accumulated, before, {.skipped = true, .layers = {}});

  EXPECT_TRUE(skipped.skipped);
  EXPECT_EQ(skipped.after.slots.at("fc1.weight").parameter, before.slots.at("fc1.weight").parameter);
  EXPECT_EQ(skipped.after.slots.at("fc1.weight").state.at(0).size(), 0);
  EXPECT_EQ(skipped.after.step, 0);
  EXPECT_EQ(skipped.after.scale.scale, 512);
  EXPECT_EQ(skipped.after.running_mean.at("bn"), taken.after.running_mean.at("bn"));
  EXPECT_NE(skipped.after.running_mean.at("bn"), before.running_mean.at("bn"));
  EXPECT_EQ(skipped.grad.at("fc1.weight"), taken.grad.at("fc1.weight"));
}

/// Running means after one window from the means of the groups given, by the definition.
Matrix<Wide> moved_over(const Case& c, const std::vector<std::pair<std::int64_t, std::int64_t>>& groups) {
  const Matrix<Wide> weight = lift<Wide>(c.tensors.at("fc1.weight")), bias = lift<Wide>(c.tensors.at("fc1.bias"));
  Matrix<Wide> running = lift<Wide>(c.tensors.at("bn.running_mean"));
  for (const auto& [first, rows] : groups) {
    Matrix<Wide> sum = Matrix<Wide>::Zero(1, 4);
    for (std::int64_t r = first; r < first + rows; ++r)
      sum += lift_rows<Wide>(c.tensors.at("x"), r, 1) * weight.transpose() + bias;
    running = (0.9L * running + 0.1L * (sum / static_cast<Wide>(rows))).eval();
  }
  return running;
}

void expect_close(const Matrix<Wide>& a, const Matrix<Wide>& b) {
  // Sums of five products of three addends of numbers up to 2 · 2 + 2, then two moves: below 32 roundings of 2^-64.
  const Wide bound = 32 * 6 * std::numeric_limits<Wide>::epsilon() / 2;
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), bound);
}

TEST(Trajectory, MovesRunningValuesOnceAMicroBatchOrOnceAWindow) {
  const Case each = training_case("micro_batch"), once = training_case("window");
  const auto mean_after = [](const Case& c, Branch branch) {
    return evaluate_window<Wide>(c, 0, branch, initial_state<Wide>(c)).after.running_mean.at("bn");
  };

  expect_close(mean_after(each, Branch::accumulated), moved_over(each, {{0, 3}, {3, 2}}));
  expect_close(mean_after(each, Branch::full_batch), moved_over(each, {{0, 5}}));
  expect_close(mean_after(once, Branch::accumulated), moved_over(once, {{0, 5}}));
}

TEST(Trajectory, CountsTheRowsThatSharedStatistics) {
  const Case c = training_case("window");
  const auto after = [&c](Branch branch) {
    return evaluate_window<Wide>(c, 0, branch, initial_state<Wide>(c)).after.running_var.at("bn");
  };

  EXPECT_EQ(after(Branch::accumulated), after(Branch::full_batch));  // five rows, not the first micro-batch's three
}

TEST(Trajectory, LeavesFrozenRunningValuesAlone) {
  const Case c = training_case("frozen");
  const auto answers = trajectory<Wide>(c, Branch::accumulated);

  EXPECT_EQ(answers[1].after.running_mean.at("bn"), lift<Wide>(c.tensors.at("bn.running_mean")));
  EXPECT_EQ(answers[1].after.running_var.at("bn"), lift<Wide>(c.tensors.at("bn.running_var")));
}

TEST(Trajectory, StartsInTheMiddleOfTrainingWhereTheCaseSaysSo) {
  Case c = training_case("window");
  c.tensors["step"] = stored(Matrix<double>::Constant(1, 1, 3), {}, Dtype::i64);
  for (const std::string& name : parameters_of(c.model)) c.tensors["momentum." + name] = c.tensors.at(name);

  const State<Wide> state = initial_state<Wide>(c);

  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.slots.at("bn.bias").state.at(0), lift<Wide>(c.tensors.at("bn.bias")));
}

}  // namespace
}  // namespace tally::oracle::trajectory_test
