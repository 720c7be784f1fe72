// Comparisons that would pass whatever is computed: each is recognised, and none counts as a pass.
#include <gtest/gtest.h>

#include "properties/judge/lens.hpp"
#include "properties/laws/shapes.hpp"
#include "tests/properties/suite/small_plan.hpp"

namespace tally::vacuous_comparison_test {
namespace {

/// The rows of the second micro-batch become those of the first.
Case with_identical_micro_batches(Plan plan) {
  exact_arithmetic(plan);
  plan.windows = {{2, 2}};
  Case c = case_of(plan);
  for (auto& [name, tensor] : c.tensors) {
    if (name != "x" && name != "target" && !name.ends_with(".mask")) continue;
    const std::size_t half = tensor.bytes.size() / 2;
    std::copy_n(tensor.bytes.begin(), half, tensor.bytes.begin() + static_cast<std::ptrdiff_t>(half));
  }
  return c;
}

TEST(VacuousComparison, TwoDeadRunsThatAgreeAreNoPass) {
  Plan plan = small_plan();
  plan.loss = choice("loss", "mse", {{"item_weights", true}});
  Case c = case_of(plan);
  Tensor& weight = c.tensors.at("item_weight");
  for (std::size_t i = 0; i < weight.elements(); ++i) weight.set(i, 0);
  const Outcome dead = outcome_under("partition_equals_full_batch", c);
  EXPECT_EQ(dead.status, Status::vacuous);
  EXPECT_NE(dead.message.find("exactly zero"), std::string::npos) << dead.message;

  weight.set(0, 1);
  EXPECT_EQ(outcome_under("partition_equals_full_batch", c).status, Status::pass);
}

TEST(VacuousComparison, IdenticalMicroBatchesSayNothingOfTheirOrder) {
  Case c = with_identical_micro_batches(small_plan());
  EXPECT_EQ(outcome_under("permuted_micro_batches", c).status, Status::vacuous);
  c = with_other_input(c);
  EXPECT_EQ(outcome_under("permuted_micro_batches", c).status, Status::pass);
}

TEST(VacuousComparison, EqualItemsSayNothingOfTheirWeights) {
  Plan plan = small_plan();
  EXPECT_EQ(outcome_under("unequal_items_are_weighted", case_of(plan)).status, Status::pass);
  plan.windows = {{2, 2}};
  EXPECT_EQ(outcome_under("unequal_items_are_weighted", case_of(plan)).status, Status::vacuous);
}

TEST(VacuousComparison, OneMicroBatchSaysNothingOfTheCut) {
  Plan plan = small_plan();
  plan.windows = {{5}};
  EXPECT_EQ(outcome_under("partition_equals_full_batch", case_of(plan)).status, Status::vacuous);
}

TEST(VacuousComparison, AnEmptySelectionFails) {
  const Trace trace = run(case_of(small_plan()));
  Outcome outcome;
  require_equal_bits(outcome, trace, trace, {"all_reduce"}, "two runs differ");
  EXPECT_EQ(settled(std::move(outcome)).status, Status::fail);
}

TEST(VacuousComparison, ASubjectThatShowsItsLossAloneIsNotRun) {
  const Case c = case_of(small_plan());
  const Trace whole = run(c);
  Trace loss;
  loss.claims = whole.claims;
  for (const Tap& tap : whole.taps()) {
    if (tap.name.stage == "loss") loss.add(tap.name, tap.value);
  }
  Outcome outcome;
  for (const TensorCheck& check : local_lens(c, loss)) add(outcome, check);
  EXPECT_EQ(settled(std::move(outcome)).status, Status::not_run);
}

TEST(VacuousComparison, ABoundAboveTheSignalIsNoPass) {
  TensorCheck check;
  check.status = Status::vacuous;
  Outcome outcome;
  add(outcome, check);
  EXPECT_EQ(settled(std::move(outcome)).status, Status::vacuous);
  EXPECT_EQ(settled(Outcome{}).status, Status::vacuous) << "no check at all";
}

}  // namespace
}  // namespace tally::vacuous_comparison_test
