#include "properties/campaign/workers.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "kernels/trace/last_place.hpp"

namespace tally::workers_test {
namespace {

TEST(Workers, GiveEveryAnswerInTheOrderOfTheJobs) {
  std::size_t done = 0;
  const auto answers = run_in_processes(
      5, 2, [](std::size_t i) { return std::string(100'000, static_cast<char>('a' + i)); },
      [&](std::size_t) { ++done; });

  ASSERT_EQ(answers.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(answers[i], std::string(100'000, static_cast<char>('a' + i)));
  EXPECT_EQ(done, 5u);
}

TEST(Workers, AnswerForAJobThatCrashes) {
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

/// This process alone is told to stop, as by `kill`: the job under way hears of it, and its answer is kept. No other job
/// begins.
TEST(Workers, AreToldWhenThisProcessIs) {
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

  EXPECT_EQ(answers, (std::vector<std::string>{"first", "stopped, whole", ""}));
}

TEST(Workers, BeginNoJobInThisProcessOnceItIsToStop) {
  std::atomic<bool> stop{false};
  std::size_t done = 0;
  const auto answers = run_in_processes(
      3, in_this_process,
      [&](std::size_t) {
        stop = true;
        return std::string("whole");
      },
      [&](std::size_t) { ++done; }, &stop);

  EXPECT_EQ(answers, (std::vector<std::string>{"whole", "", ""}));
  EXPECT_EQ(done, 1u);
}

TEST(Workers, AnswerForAJobThatThrows) {
  const auto answers = run_in_processes(
      2, 2, [](std::size_t i) { return i == 0 ? throw std::runtime_error("no such thing") : std::string("whole"); },
      [](std::size_t) {});

  EXPECT_EQ(answers[0], "crash: no such thing");
  EXPECT_EQ(answers[1], "whole");
}

/// Whatever it returns itself: an answer cut short, or none, is a death.
TEST(Workers, KnowHowAJobThatLeavesOnItsOwnWayEnded) {
  const auto job = [](std::size_t i) {
    if (i == 0) std::exit(0);
    if (i == 1) _exit(7);
    if (i == 2) std::abort();
    return std::string("whole");
  };

  for (const int processes : {1, 2}) {
    const auto answers = run_in_processes(4, processes, job, [](std::size_t) {});
    EXPECT_EQ(answers[0], "crash: an exit with code 0");
    EXPECT_EQ(answers[1], "crash: an exit with code 7");
    EXPECT_EQ(answers[2], "crash: signal 6 (Aborted)");
    EXPECT_EQ(answers[3], "whole");
  }
}

TEST(Workers, RunAJobAgainUpToTheStepThatItDiedOf) {
  const auto job = [](std::size_t) {
    begin_step(3);
    begin_step(5);
    std::abort();
    return std::string();
  };
  const auto again = [](std::size_t i, const Death& death) {
    return std::to_string(i) + " up to " + std::to_string(death.step) + ": " + death.how;
  };

  EXPECT_EQ(run_in_processes(
                2, 1, job, [](std::size_t) {}, nullptr, again),
            (std::vector<std::string>{"0 up to 5: signal 6 (Aborted)", "1 up to 5: signal 6 (Aborted)"}));
}

TEST(Workers, TellWhereARunWasWhenItsProcessDied) {
  const auto job = [](std::size_t i) {
    note_operation("accumulate");
    note_tap(tap_name_of("w0/m1/accumulate/in.d.fc.weight"));
    if (i > 0) note_operation("");
    if (i > 1) note_run_ended();
    std::abort();
    return std::string();
  };
  const auto again = [](std::size_t, const Death& death) { return death.how; };

  EXPECT_EQ(
      run_in_processes(
          3, 1, job, [](std::size_t) {}, nullptr, again),
      (std::vector<std::string>{"signal 6 (Aborted) in accumulate, behind w0/m1/accumulate/in.d.fc.weight",
                                "signal 6 (Aborted) behind w0/m1/accumulate/in.d.fc.weight", "signal 6 (Aborted)"}));
}

TEST(Workers, TellAKillFromOutsideFromADeedOfTheJob) {
  const auto again = [](std::size_t, const Death& death) {
    return std::string(death.from_outside ? "outside" : "inside");
  };
  const auto job = [](std::size_t i) {
    raise(i == 0 ? SIGKILL : SIGSEGV);
    return std::string();
  };

  EXPECT_EQ(run_in_processes(
                2, 2, job, [](std::size_t) {}, nullptr, again),
            (std::vector<std::string>{"outside", "inside"}));
}

/// The process in the middle is killed, as by `kill -9`; its job must not go on.
TEST(Workers, DoNotOutliveTheirParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t middle = fork();
  if (middle == 0) {
    run_in_processes(
        1, 1,
        [&](std::size_t) {
          const pid_t mine = getpid();
          if (write(ends[1], &mine, sizeof mine) < 0) _exit(1);
          for (;;) pause();
          return std::string();
        },
        [](std::size_t) {});
    _exit(0);
  }
  close(ends[1]);
  pid_t job = 0;
  ASSERT_EQ(read(ends[0], &job, sizeof job), ssize_t(sizeof job));
  kill(middle, SIGKILL);
  waitpid(middle, nullptr, 0);

  char byte;
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 30'000), 1) << "the job still holds its end of the pipe";
  kill(job, SIGKILL);
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace tally::workers_test
