// Faults that the end of a step hides: a clip and Adam take out any factor, two NaN look equal. The stage that is wrong
// is named all the same.
#include <gtest/gtest.h>

#include <cmath>

#include "properties/faults/fault.hpp"
#include "properties/laws/run_and_check.hpp"
#include "tests/properties/suite/small_plan.hpp"

namespace tally::masked_fault_test {
namespace {

RunOptions seeded(const char* fault) {
  RunOptions subject;
  subject.stages = &find_fault(fault)->stages();
  return subject;
}

const Tensor& updated(const Trace& trace) { return *trace.find("w0/optimizer/fc1.weight"); }

double distance(const Tensor& a, const Tensor& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.elements(); ++i) squares += std::pow(a.value(i) - b.value(i), 2);
  return std::sqrt(squares);
}

TEST(MaskedFault, AFactorIsNamedWhereAnActiveClipHidesIt) {
  Plan plan = small_plan();
  plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.0078125"}}});
  const Case c = case_of(plan);
  const CheckedRun faulty = run_and_check(c, seeded("extra-times-k"));
  const Trace trace = run(c);

  const double step = distance(updated(trace), c.tensors.at("fc1.weight"));
  ASSERT_GT(step, 0);
  EXPECT_LT(distance(updated(faulty.trace), updated(trace)), step / 64) << "the clip hides a factor of two";
  EXPECT_EQ(faulty.outcome.status, Status::fail);
  EXPECT_EQ(first_failing_stage(faulty.outcome), "loss");
}

TEST(MaskedFault, AFactorIsNamedWhereAdamHidesItToTheLastBit) {
  Plan plan = small_plan();
  plan.recipe.optimizer = choice("optimizer", "adam", {{"eps", Decimal{"1e-30"}}});
  const Case c = case_of(plan);
  const CheckedRun faulty = run_and_check(c, seeded("extra-times-k"));

  EXPECT_EQ(updated(faulty.trace), updated(run(c))) << "K = 2 doubles both moments' roots";
  EXPECT_EQ(faulty.outcome.status, Status::fail);
  EXPECT_EQ(first_failing_stage(faulty.outcome), "loss");
}

TEST(MaskedFault, TwoRunsFullOfNanAreNotEqual) {
  Plan plan = small_plan();
  plan.loss = choice("loss", "mse", {{"item_weights", true}});
  plan.empty_micro_batch = true;
  const Outcome outcome = outcome_under("observation_changes_nothing", case_of(plan), seeded("zero-valid-items-nan"));

  EXPECT_EQ(outcome.status, Status::fail);
  EXPECT_EQ(first_failing_stage(outcome), "loss");
}

TEST(MaskedFault, RunningValuesAreJudgedWhereLossAndGradientAreRight) {
  Plan plan = small_plan();
  plan.hidden.insert(plan.hidden.begin() + 1,
                     layer("batch_norm", "norm1", {{"statistics", std::string("micro_batch")}}));
  plan.execution.recompute = true;
  const Case c = case_of(plan);
  const CheckedRun faulty = run_and_check(c, seeded("bn-double-update-recompute"));

  EXPECT_EQ(updated(faulty.trace), updated(run(c)));
  EXPECT_EQ(faulty.outcome.status, Status::fail);
  EXPECT_EQ(first_failing_stage(faulty.outcome), "running_stats");
}

}  // namespace
}  // namespace tally::masked_fault_test
