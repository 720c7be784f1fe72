#include "properties/campaign/workers.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>

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

TEST(Workers, answer_for_a_job_that_throws) {
  const auto answers = run_in_processes(
      2, 2, [](std::size_t i) { return i == 0 ? throw std::runtime_error("no such thing") : std::string("whole"); },
      [](std::size_t) {});

  EXPECT_EQ(answers[0], "crash: no such thing");
  EXPECT_EQ(answers[1], "whole");
}

}  // namespace
}  // namespace tally
