#include "properties/campaign/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace tally {
namespace {

TEST(Workers, give_every_answer_in_the_order_of_the_jobs) {
  std::size_t done = 0;
  const auto answers = run_in_processes(
      5, 2, [](std::size_t i) { return std::string(100'000, static_cast<char>('a' + i)); },
      [&](std::size_t) { ++done; });

  ASSERT_EQ(answers.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(answers[i], std::string(100'000, static_cast<char>('a' + i)));
  EXPECT_EQ(done, 5u);
}

TEST(Workers, answer_for_a_job_that_crashes) {
  const auto answers = run_in_processes(
      3, 2,
      [](std::size_t i) {
        if (i == 1) raise(SIGKILL);
        return std::string("whole");
      },
      [](std::size_t) {});

  EXPECT_EQ(answers[0], "whole");
  EXPECT_TRUE(answers[1].starts_with("crash: ")) << answers[1];
  EXPECT_EQ(answers[2], "whole");
}

std::atomic<bool> terminated{false};

/// This process alone is told to stop, as by `kill`: the job under way hears of it, and its answer is kept.
TEST(Workers, are_told_when_this_process_is) {
  const auto before = std::signal(SIGTERM, [](int) { terminated = true; });
  const auto wait_for_it = [] {
    for (int i = 0; i < 3000 && !terminated; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return std::string(terminated ? "stopped, whole" : "never heard of it");
  };
  const auto answers = run_in_processes(
      3, 2, [&](std::size_t i) { return i == 0 ? "first" : wait_for_it(); },
      [](std::size_t i) { terminated = terminated || i == 0; }, &terminated);
  std::signal(SIGTERM, before);
  terminated = false;

  EXPECT_EQ(answers, (std::vector<std::string>{"first", "stopped, whole", "stopped, whole"}));
}

TEST(Workers, answer_for_a_job_that_throws) {
  const auto answers = run_in_processes(
      2, 2, [](std::size_t i) { return i == 0 ? throw std::runtime_error("no such thing") : std::string("whole"); },
      [](std::size_t) {});

  EXPECT_EQ(answers[0], "crash: no such thing");
  EXPECT_EQ(answers[1], "whole");
}

}  // namespace
}  // namespace tally
