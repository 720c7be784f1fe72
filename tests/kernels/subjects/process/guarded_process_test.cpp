#include "kernels/subjects/process/guarded_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/sanitized.hpp"

namespace tally::guarded_process_test {
namespace {

/// Answers every line with what it reads, until there are no more.
void echo(int in, int out) {
  char bytes[1 << 16];
  for (ssize_t n = 0; (n = read(in, bytes, sizeof bytes)) > 0;)
    if (write(out, bytes, static_cast<std::size_t>(n)) != n) return;
}

std::string how(const GuardedProcess& process) { return process.ended() ? process.ended()->how : "goes on"; }

TEST(GuardedProcess, AnswersLineByLine) {
  GuardedProcess process(echo, {});

  EXPECT_EQ(process.ask("one", 10), "one");
  EXPECT_EQ(process.ask(std::string(1 << 15, 'x'), 10), std::string(1 << 15, 'x'));
  EXPECT_EQ(how(process), "goes on");
}

TEST(GuardedProcess, TellsHowItEnded) {
  const std::vector<std::pair<GuardedProcess::Body, std::string>> ends{
      {[](int, int) { raise(SIGSEGV); }, "signal 11 (Segmentation fault)"},
      {[](int, int) { std::exit(0); }, "an exit with code 0"},
      {[](int, int) { _exit(9); }, "an exit with code 9"},
      {[](int, int) {}, "an exit with code 0"}};
  for (const auto& [body, expected] : ends) {
    GuardedProcess process(body, {});

    EXPECT_EQ(process.ask("anything", 10), std::nullopt);

    EXPECT_EQ(how(process), expected);
    EXPECT_FALSE(process.ended()->from_outside);
  }
  GuardedProcess killed([](int, int) { raise(SIGKILL); }, {});
  EXPECT_EQ(killed.ask("anything", 10), std::nullopt);
  EXPECT_TRUE(killed.ended()->from_outside);
}

TEST(GuardedProcess, ASilentOneIsNotWaitedForBeyondTheLimit) {
  const auto begun = std::chrono::steady_clock::now();
  {
    GuardedProcess process([](int, int) { pause(); }, {});
    EXPECT_EQ(process.ask("anything", 0.2), std::nullopt);
    EXPECT_EQ(how(process), "goes on");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
}

TEST(GuardedProcess, OneThatDoesNotReadIsNotWaitedForEither) {
  GuardedProcess process([](int, int) { pause(); }, {});

  EXPECT_EQ(process.ask(std::string(1 << 20, 'x'), 0.2), std::nullopt);
}

TEST(GuardedProcess, KeepsTheLastWords) {
  GuardedProcess process(
      [](int, int) {
        const std::string words = "first\nlast \x1b[31mwords\n\n";
        if (write(STDERR_FILENO, words.data(), words.size()) > 0) abort();
      },
      {});

  EXPECT_EQ(process.ask("anything", 10), std::nullopt);

  EXPECT_EQ(process.last_words(), "last  [31mwords");
}

/// Whether a process of that number is there, and no mere entry that nobody has taken in.
bool lives(pid_t number) { return kill(number, 0) == 0; }

TEST(GuardedProcess, WhateverItStartedEndsWithIt) {
  pid_t grandchild = 0;
  {
    GuardedProcess process(
        [](int in, int out) {
          if (fork() == 0) {
            setsid();
            const pid_t far = fork();
            if (far == 0) {
              for (;;) pause();
            }
            const std::string line = std::to_string(far) + "\n";
            if (write(out, line.data(), line.size()) < 0) _exit(1);
            _exit(0);
          }
          echo(in, STDERR_FILENO);
        },
        {});
    const auto answer = process.ask("", 10);
    ASSERT_TRUE(answer);
    grandchild = std::stoi(*answer);
    ASSERT_TRUE(lives(grandchild));
  }
  EXPECT_FALSE(lives(grandchild));
}

TEST(GuardedProcess, MemoryIsLimited) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizer's own heap";
  GuardedProcess process(
      [](int in, int out) {
        char byte = 0;
        while (read(in, &byte, 1) == 1 && byte != '\n') {
        }
        const std::string line = malloc(std::size_t{1} << 30) != nullptr ? "had\n" : "refused\n";
        if (write(out, line.data(), line.size()) < 0) _exit(1);
      },
      {10, std::uint64_t{1} << 28});

  EXPECT_EQ(process.ask("", 10), "refused");
}

}  // namespace
}  // namespace tally::guarded_process_test
