#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <stdexcept>
#include <thread>

#include "properties/campaign/workers.hpp"

namespace tally::early_fork_test {
namespace {

std::map<std::size_t, std::string> answers_of(EarlyFork& helper, std::size_t wanted) {
  std::map<std::size_t, std::string> answers;
  while (answers.size() < wanted)
    for (auto& each : helper.take(std::chrono::milliseconds(100))) answers[each.number] = std::move(each.bytes);
  return answers;
}

EarlyForkJobs echoing(const std::string& text) {
  return {[text](std::size_t number, std::size_t before) {
            if (number == 13) raise(SIGSEGV);
            return text + " " + std::to_string(number) + " after " + std::to_string(before);
          },
          [](std::size_t, std::size_t, const Death& died) { return "died of " + died.how; }};
}

TEST(EarlyFork, ForksWorkersThatAnswerAndKnowsHowOneDied) {
  EarlyFork helper(echoing);
  helper.begin(std::string(100'000, 'x') + "job");

  helper.start(3, 0);
  helper.start(13, 1);
  const auto answers = answers_of(helper, 2);

  EXPECT_TRUE(answers.at(3).ends_with("xjob 3 after 0"));
  EXPECT_EQ(answers.at(13), "died of signal 11 (Segmentation fault)");
}

/// As a launcher sends it to all processes of a job: half an answer would be taken for a whole one.
TEST(EarlyFork, AndItsWorkersAreNotEndedByASignalThatAsksForIt) {
  EarlyFork helper([](const std::string&) {
    const auto job = [](std::size_t, std::size_t) {
      kill(getppid(), SIGTERM);
      raise(SIGTERM);
      return std::string("whole");
    };
    return EarlyForkJobs{job, [](std::size_t, std::size_t, const Death& died) { return died.how; }};
  });
  helper.begin("");

  helper.start(0, 0);

  EXPECT_EQ(answers_of(helper, 1).at(0), "whole");
}

TEST(EarlyFork, ThatWasKilledIsTold) {
  EarlyFork helper([](const std::string&) {
    const auto job = [](std::size_t, std::size_t) {
      kill(getppid(), SIGKILL);
      for (;;) pause();
      return std::string();
    };
    return EarlyForkJobs{job, [](std::size_t, std::size_t, const Death& died) { return died.how; }};
  });
  helper.begin("");
  helper.start(0, 0);

  EXPECT_THROW(answers_of(helper, 1), std::runtime_error);
}

}  // namespace
}  // namespace tally::early_fork_test
