#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "properties/campaign/workers.hpp"

namespace tally::rescue_test {
namespace {

const Death death_in(std::uint64_t step) { return {"signal 6 (Aborted)", false, step}; }

/// Runs attempt after attempt of a job that died in `first`; `outcome(end)` is the step in which the attempt that is to
/// end at `end` dies, or nothing where its answer comes. Returns the ends that were tried.
std::vector<std::uint64_t> rescue(Rescue& job, std::uint64_t first,
                                  const std::function<std::optional<std::uint64_t>(std::uint64_t)>& outcome) {
  std::vector<std::uint64_t> tried;
  for (auto next = job.died(death_in(first)); next;) {
    tried.push_back(next->step);
    const auto died = outcome(next->step);
    next = died ? job.died(death_in(*died)) : job.answered("ended at " + std::to_string(next->step));
  }
  return tried;
}

TEST(Rescue, EndsAtTheStepThatKilledTheProcess) {
  Rescue job;

  EXPECT_EQ(rescue(job, 7, [](std::uint64_t) { return std::nullopt; }), std::vector<std::uint64_t>{7});
  EXPECT_EQ(job.result(), "ended at 7");
}

/// Step 5 spoils the heap: who takes it dies in a later one, or of its answer.
TEST(Rescue, FindsTheStepThatADeathComesFrom) {
  Rescue job;

  const auto tried = rescue(job, 9, [](std::uint64_t end) -> std::optional<std::uint64_t> {
    if (end > 5) return end - 1;
    return std::nullopt;
  });

  EXPECT_EQ(job.result(), "ended at 5");
  EXPECT_LE(tried.size(), 5u);
}

TEST(Rescue, GivesUpWhereNothingHelpsAndSaysHowTheProcessDied) {
  Rescue job;

  const auto tried = rescue(job, 1u << 16, [](std::uint64_t) { return 0; });

  EXPECT_LE(tried.size(), 2u);
  EXPECT_EQ(job.result(), "crash: signal 6 (Aborted)");
}

TEST(Rescue, HasNothingToDoForAJobThatAnswers) {
  Rescue job;

  EXPECT_FALSE(job.answered("whole"));
  EXPECT_EQ(job.result(), "whole");
}

}  // namespace
}  // namespace tally::rescue_test
