#include "kernels/subjects/process/child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace tally::child_process_test {
namespace {

std::string end_of(const std::function<int()>& body) {
  const auto status = ChildProcess("a test", body).wait();
  return status ? end_by(*status).how : "nobody tells";
}

TEST(ChildProcess, TellsHowItEnded) {
  EXPECT_EQ(end_of([] { return 7; }), "an exit with code 7");
  EXPECT_EQ(end_of([]() -> int { std::exit(8); }), "an exit with code 8");
  EXPECT_EQ(end_of([]() -> int { throw std::runtime_error("of no use to the parent"); }), "signal 6 (Aborted)");
  EXPECT_FALSE(awaited(getpid()));
}

TEST(ChildProcess, EndsWithItsObjectAndNotWithACopyOfIt) {
  Pipe down("a test"), up("a test");
  std::string asked, answer;
  {
    const ChildProcess process("a test", [&] {
      while (read_some(down.out, asked)) write_all(up.in, asked);
      return 0;
    });
    up.in = Descriptor();
    const auto end_of_copy = ChildProcess("a test", [&] {
                               process.~ChildProcess();
                               return 0;
                             }).wait();
    EXPECT_EQ(end_of_copy, 0);
    EXPECT_TRUE(write_all(down.in, "it goes on"));
    EXPECT_TRUE(read_some(up.out, answer));
    EXPECT_EQ(answer, "it goes on");
  }
  EXPECT_FALSE(read_some(up.out, answer));
}

TEST(ChildProcess, IsSentItsSignalByWhoeverHoldsIt) {
  ChildProcess process("a test", [] { return pause(); });
  process.tell(SIGTERM);

  const ProcessEnd end = end_by(process.wait().value());
  EXPECT_EQ(end.how, "signal 15 (Terminated)");
  EXPECT_TRUE(end.from_outside);
}

}  // namespace
}  // namespace tally::child_process_test
