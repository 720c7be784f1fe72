#include "properties/campaign/law_task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "properties/campaign/campaign.hpp"
#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"
#include "properties/laws/run_and_check.hpp"

namespace tally::law_task_test {
namespace {

const Law& law() { return *find_law("partition_equals_full_batch"); }

/// The same cases whatever the kernels, as drawn.
CampaignOptions drawn_alike() {
  CampaignOptions options;
  options.cases = 30;
  options.shrink = options.steered = false;
  return options;
}

CampaignOptions with_a_fault() {
  CampaignOptions options = drawn_alike();
  options.subject.stages = &find_fault("mean-of-means")->stages();
  return options;
}

std::vector<std::string> ids_of(const TaskResult& found) {
  std::vector<std::string> ids;
  for (const CaseRecord& c : found.cases) ids.push_back(c.id);
  return ids;
}

std::ptrdiff_t failing_in(const TaskResult& found) {
  return std::count_if(found.cases.begin(), found.cases.end(),
                       [](const CaseRecord& c) { return c.status == Status::fail; });
}

TEST(LawTask, EndsAtItsFirstFailingCase) {
  const TaskResult found = run_law_task(law(), Dtype::fp32, with_a_fault());

  ASSERT_FALSE(found.cases.empty());
  EXPECT_EQ(failing_in(found), 1);
  EXPECT_EQ(found.cases.back().status, Status::fail);
  EXPECT_LT(found.cases.size(), 30u);
}

TEST(LawTask, KeepsGoingWhereItIsToldToAndShowsAFaultyKernelTheCasesOfARightOne) {
  CampaignOptions options = with_a_fault();
  options.keep_going = true;

  const TaskResult faulty = run_law_task(law(), Dtype::fp32, options);
  const TaskResult right = run_law_task(law(), Dtype::fp32, drawn_alike());

  EXPECT_EQ(ids_of(faulty), ids_of(right));
  EXPECT_EQ(failing_in(right), 0);
  EXPECT_GT(failing_in(faulty), 1);
  EXPECT_TRUE(std::all_of(faulty.cases.begin(), faulty.cases.end(),
                          [](const CaseRecord& c) { return c.status != Status::fail || !c.operations.empty(); }));
}

TEST(LawTask, BlamesNoCaseWhereTheProcessDiedAsOneWasDrawn) {
  const Death at_first{"signal 11 (Segmentation fault)", false, 0};

  const TaskResult found = run_law_task(law(), Dtype::fp32, drawn_alike(), {}, &at_first);

  ASSERT_EQ(found.cases.size(), 1u);
  EXPECT_EQ(found.cases.front().status, Status::error);
  EXPECT_EQ(found.cases.front().message, "the process that drew a case was ended by signal 11 (Segmentation fault)");
  EXPECT_TRUE(found.cases.front().token.empty());
}

TEST(LawTask, MakesTheFirstFailingCaseSmallerAndKeepsItAlone) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "tally-law-task-kept";
  std::filesystem::remove_all(folder);
  CampaignOptions options = with_a_fault();
  options.keep_going = options.shrink = true;
  options.corpus = folder;

  const TaskResult found = run_law_task(law(), Dtype::fp32, options);

  EXPECT_GT(failing_in(found), 1);
  const auto kept = kept_cases(options.corpus);
  ASSERT_EQ(kept.size(), 1u);
  const auto first = std::find_if(found.cases.begin(), found.cases.end(),
                                  [](const CaseRecord& c) { return c.status == Status::fail; });
  EXPECT_EQ(case_of(kept.front()), *found.failing);
  EXPECT_NE(kept.front().file.string().find(first->id), std::string::npos);
}

/// One kernel while there is more than one window, another after.
Outcome by_two_kernels(const Case& c, const RunOptions& subject) {
  Case other = c;
  other.execution.kernels["accumulate"] = c.windows.size() > 1 ? "kahan" : "grid_stride";
  return run_and_check(other, subject).outcome;
}

TEST(LawTask, NamesTheKernelThatFailsInTheSmallerCase) {
  Law law_of_two = law();
  law_of_two.holds = by_two_kernels;
  const auto kernel_of_failure = [&](bool shrink) {
    CampaignOptions options = drawn_alike();
    options.subject.stages = &find_fault("microstep-dropped")->stages();
    options.shrink = shrink;
    const CaseRecord last = run_law_task(law_of_two, Dtype::fp32, options).cases.back();
    EXPECT_EQ(last.status, Status::fail);
    return last.kernel.substr(0, last.kernel.find(','));
  };

  EXPECT_EQ(kernel_of_failure(false), "accumulate/kahan");
  EXPECT_EQ(kernel_of_failure(true), "accumulate/grid_stride");
}

std::atomic<bool> given_up = false;

/// The first case fails; whoever makes it smaller waits until that is given up.
Outcome fails_and_waits(const Case&, const RunOptions&) {
  static int calls = 0;
  Outcome outcome;
  while (calls == 1 && !given_up) std::this_thread::yield();
  require(outcome, calls++ > 0, "w0/m0/forward/fc.y", "forward", "it is wrong");
  return settled(std::move(outcome));
}

TEST(LawTask, LeavesAFailureAsItWasFoundWhereMakingItSmallerTakesTooLong) {
  Law waits = law();
  waits.holds = fails_and_waits;
  CampaignOptions options;
  options.cases = 1;
  options.case_seconds = 0.2;
  std::optional<TaskResult> abandoned;

  run_law_task(waits, Dtype::fp32, options, [&](const TaskResult& found) {
    abandoned = found;
    given_up = true;
  });

  ASSERT_TRUE(abandoned.has_value());
  ASSERT_EQ(abandoned->cases.size(), 1u);
  EXPECT_EQ(abandoned->cases.back().status, Status::fail);
  EXPECT_EQ(abandoned->cases.back().message.find("it is wrong; not made smaller, as that took longer than 5 times"), 0u)
      << abandoned->cases.back().message;
  EXPECT_TRUE(abandoned->failing.has_value());
}

}  // namespace
}  // namespace tally::law_task_test
