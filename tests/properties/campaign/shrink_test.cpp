#include "properties/campaign/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "oracle/case/io.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/faults/fault.hpp"
#include "properties/generators/simpler_plans.hpp"
#include "properties/lab/evidence/cases.hpp"

namespace tally::shrink_test {
namespace {

struct Failing {
  std::string fault, law, stage, suspect;
};

/// Five faults at five stages.
const Failing failing[] = {
    {"mean-of-means", "unequal_items_are_weighted", "loss", "mean-of-means"},
    {"tail-row-dropped", "any_order_of_additions", "backward", "tail-row-dropped"},
    {"overwrite-not-add", "partition_equals_full_batch", "accumulate", "last-only"},
    {"clip-before-unscale", "clip_once_after_unscale", "norm", "clip-before-unscale"},
    {"decay-per-microbatch", "decay_and_momentum_once", "decay", "decay-per-microbatch"},
};

CampaignOptions with_fault(const std::string& fault, bool shrink) {
  CampaignOptions options;
  options.subject.stages = &find_fault(fault)->stages();
  options.shrink = shrink;
  return options;
}

CaseRecord failure_of(const Failing& f, bool shrink) {
  const TaskResult result = run_law_task(*find_law(f.law), Dtype::fp32, with_fault(f.fault, shrink));
  for (const CaseRecord& c : result.cases) {
    if (c.status == Status::fail) return c;
  }
  ADD_FAILURE() << f.fault << " was not caught";
  return {};
}

TEST(Shrink, EndsAtACaseThatAPersonCanRead) {
  for (const Failing& f : failing) {
    const CaseRecord record = failure_of(f, true);
    ASSERT_FALSE(record.token.empty()) << f.fault;
    const Case c = case_of_token(record.token);

    EXPECT_LE(c.model.layers.size(), 2u) << f.fault << ": " << record.title;
    for (std::size_t i = 0; i <= c.model.layers.size(); ++i) EXPECT_LE(features_before(c.model, i), 3) << f.fault;
    EXPECT_LE(record.micro_batches, 3) << f.fault;
    EXPECT_LE(c.windows.size(), 2u) << f.fault;
  }
}

/// The law draws windows of 32 rows through 16-16-4, and judges any case.
TEST(Shrink, LeavesTheShapeOfALawThatJudgesAnyCase) {
  const CaseRecord record =
      failure_of({"half-accumulator", "many_micro_batches_stay_bounded", "backward", "half-accumulator"}, true);
  const Case c = case_of_token(record.token);

  EXPECT_LE(c.model.layers.size(), 2u) << record.title;
  for (std::size_t i = 0; i <= c.model.layers.size(); ++i) EXPECT_LE(features_before(c.model, i), 3) << record.title;
  ASSERT_FALSE(record.suspects.empty());
  EXPECT_EQ(record.suspects.front().name, "half-accumulator");
}

/// Formulas that leave the same numbers on a small case are equally good: any of the likeliest may be the bug.
bool is_among_the_likeliest(const std::vector<Suspicion>& suspects, const std::string& name) {
  return std::any_of(suspects.begin(), suspects.end(), [&](const Suspicion& s) {
    return s.name == name && s.share == suspects.front().share && s.parameters == suspects.front().parameters;
  });
}

TEST(Shrink, KeepsTheClassTheStageAndTheSuspect) {
  for (const Failing& f : failing) {
    const CaseRecord before = failure_of(f, false), after = failure_of(f, true);

    EXPECT_EQ(after.failure, before.failure) << f.fault;
    EXPECT_EQ(after.first_stage, f.stage) << f.fault;
    ASSERT_FALSE(after.suspects.empty()) << f.fault;
    EXPECT_TRUE(is_among_the_likeliest(after.suspects, f.suspect)) << f.fault << ": " << after.suspects.front().name;
  }
}

TEST(Shrink, LeavesRoundNumbers) {
  for (const Failing& f : failing) {
    const Case drawn = case_of_token(failure_of(f, false).token), small = case_of_token(failure_of(f, true).token);
    const auto roughest = [](const Case& c) {
      int most = 0;
      for (const auto& [name, tensor] : c.tensors) {
        if (tensor.dtype == Dtype::i64) continue;  // class numbers
        for (std::size_t i = 0; i < tensor.elements(); ++i) most = std::max(most, roughness(tensor.value(i)));
      }
      return most;
    };

    EXPECT_GT(roughest(drawn), 2) << f.fault;
    EXPECT_LE(roughest(small), 2) << f.fault << ": 0, 1, small integers and powers of two";
  }
}

/// The first case tried spends a budget of none; the plan's own case stands.
TEST(Shrink, StopsWhereItsElementsAreSpent) {
  const Failing& f = failing[2];
  const Law& law = *find_law(f.law);
  const RunOptions subject = with_fault(f.fault, true).subject;
  Plan plan = drawn_plan(Dtype::fp32, 1);
  if (law.shape) law.shape(plan);
  const Outcome outcome = outcome_of(law, case_of(plan), subject);
  ASSERT_EQ(outcome.status, Status::fail);

  EXPECT_EQ(shrunk(law, plan, outcome, subject, 0).attempts, 1u);
  EXPECT_GT(shrunk(law, plan, outcome, subject).attempts, 1u);
}

std::atomic<bool> stopped{false};
int cases_until_stopped = 0;

/// Every case breaks it; an interrupt comes after some of them.
Outcome broken_until_stopped(const Case&, const RunOptions&) {
  stopped = --cases_until_stopped <= 0;
  Outcome outcome;
  outcome.status = Status::fail;
  return outcome;
}

TEST(Shrink, KeepsTheSmallestCaseSoFarWhenItIsInterrupted) {
  Law law;
  law.name = "broken", law.holds = broken_until_stopped;
  const Plan plan = drawn_plan(Dtype::fp32, 1);
  Outcome failing_outcome;
  failing_outcome.status = Status::fail;
  std::uint64_t attempts[2] = {};
  for (const int cases : {3, 1'000'000}) {
    stopped = false, cases_until_stopped = cases;
    const ShrunkCase found = shrunk(law, plan, failing_outcome, {}, elements_to_shrink, &stopped);
    attempts[cases > 3] = found.attempts;
    EXPECT_EQ(found.outcome.status, Status::fail);
    EXPECT_LT(write_case(found.c).size(), write_case(case_of(plan)).size());
  }
  EXPECT_GT(attempts[0], 0u);
  EXPECT_LE(attempts[0], 3u);  // an attempt may run its case twice
  EXPECT_GT(attempts[1], 3u);
}

TEST(Shrink, IsDeterministic) { EXPECT_EQ(failure_of(failing[0], true).token, failure_of(failing[0], true).token); }

/// Whatever the roundings ask, what is kept is what the question said yes to.
TEST(RounderValues, KeepWhatTheFailureNeeds) {
  Case start = case_of_token(failure_of(failing[2], false).token);
  const auto needs_a_half = [](const Case& asked) { return std::fabs(asked.tensors.at("x").value(0)) >= 0.25; };
  start.tensors.at("x").set(0, 0.3);
  const Case rounder = with_rounder_values(start, 5000, needs_a_half);

  EXPECT_EQ(rounder.tensors.at("x").value(0), 1);
  for (std::size_t i = 1; i < rounder.tensors.at("x").elements(); ++i) {
    EXPECT_LE(roughness(rounder.tensors.at("x").value(i)), 1) << i;
  }
}

TEST(RounderValues, RoughnessOrdersNumbersAsPeopleDo) {
  EXPECT_LT(roughness(0), roughness(1));
  EXPECT_LT(roughness(1), roughness(-1));
  EXPECT_EQ(roughness(2), roughness(0.5));
  EXPECT_LT(roughness(3), roughness(0.375));
  EXPECT_LT(roughness(0.375), roughness(0.1));
  EXPECT_LT(roughness(1.5), roughness(1.5e30));
}

}  // namespace
}  // namespace tally::shrink_test
