#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <stdexcept>

#include "properties/lab/study.hpp"

namespace tally::jobs_test {
namespace {

StudyOptions with_processes(int processes) {
  StudyOptions options;
  options.processes = processes;
  return options;
}

std::string title(std::size_t i) { return "part " + std::to_string(i); }

TEST(Jobs, AnswerTheSameWhateverTheNumberOfProcesses) {
  const auto job = [](std::size_t i) {
    return Numbers{static_cast<double>(i) / 3, std::numeric_limits<double>::infinity()};
  };

  const auto alone = run_jobs(with_processes(1), 5, job, title);

  EXPECT_EQ(run_jobs(with_processes(3), 5, job, title), alone);
  EXPECT_EQ(alone[4][0], 4.0 / 3);
}

TEST(Jobs, NameThePartThatBroke) {
  const auto job = [](std::size_t i) -> Numbers {
    if (i == 2) throw std::runtime_error("no more numbers");
    return {};
  };
  try {
    run_jobs(with_processes(2), 4, job, title);
    FAIL() << "a broken part went unnoticed";
  } catch (const std::runtime_error& problem) {
    EXPECT_EQ(std::string(problem.what()), "part 2: crash: no more numbers");
  }
}

TEST(Jobs, StopWhenTheyAreInterrupted) {
  const std::atomic<bool> stop{true};
  StudyOptions options = with_processes(1);
  options.interrupted = &stop;

  const auto found = run_jobs(
      options, 3, [](std::size_t) { return Numbers{1}; }, title);

  EXPECT_EQ(found.size(), 3u);
  for (const Numbers& numbers : found) EXPECT_TRUE(numbers.empty());
}

}  // namespace
}  // namespace tally::jobs_test
