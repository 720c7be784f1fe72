// A race that one drawn schedule shows, kept as the few choices of threads that matter.
#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/campaign/shrink.hpp"
#include "properties/faults/seeded.hpp"
#include "tests/properties/suite/small_plan.hpp"

namespace tally::listed_schedule_test {
namespace {

RunOptions racing_subject() {
  static const Stages racing = with_kernel("sgd", "shy-race");
  RunOptions subject;
  subject.executor = ExecutorKind::checked;
  subject.stages = &racing;
  return subject;
}

/// The small plan under the first schedule in which the race shows; 0 where none does.
Plan failing_plan(const Law& law) {
  Plan plan = small_plan();
  for (plan.execution.schedule = 1; plan.execution.schedule <= 100; ++plan.execution.schedule) {
    if (outcome_of(law, case_of(plan), racing_subject()).status == Status::fail) return plan;
  }
  plan.execution.schedule = 0;
  return plan;
}

TEST(ListedSchedule, KeepsTheChoicesThatMatterInTheToken) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  const Law& law = *find_law("no_data_race");
  ASSERT_EQ(outcome_of(law, case_of(small_plan()), racing_subject()).status, Status::pass) << "it shows in order, too";
  const Plan plan = failing_plan(law);
  ASSERT_NE(plan.execution.schedule, 0) << "no schedule shows the race";

  const ShrunkCase shrunk_case = shrunk(law, plan, outcome_of(law, case_of(plan), racing_subject()), racing_subject());

  EXPECT_EQ(shrunk_case.c.execution.schedule, 0);
  EXPECT_GE(shrunk_case.c.execution.preemptions.size(), 1u);
  EXPECT_LE(shrunk_case.c.execution.preemptions.size(), 2u);
  const Case replayed = case_of_token(token_of(shrunk_case.c));
  const Outcome again = outcome_of(law, replayed, racing_subject());
  EXPECT_EQ(again.status, Status::fail);
  EXPECT_NE(again.message.find("RACE ("), std::string::npos) << again.message;
}

}  // namespace
}  // namespace tally::listed_schedule_test
