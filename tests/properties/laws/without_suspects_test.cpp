#include <gtest/gtest.h>

#include "properties/faults/fault.hpp"
#include "properties/laws/judge.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::without_suspects_test {
namespace {

TEST(WithoutSuspects, AFailureIsFoundAndNotExplained) {
  const Case c = normal_case(1);
  RunOptions faulty;
  faulty.stages = &find_fault("sum-not-mean")->stages();
  const Trace trace = run(c, faulty);

  EXPECT_FALSE(judge(c, trace).suspects.empty());
  {
    const WithoutSuspects none;
    const Outcome outcome = judge(c, trace);
    EXPECT_EQ(outcome.status, Status::fail);
    EXPECT_TRUE(outcome.suspects.empty());
  }
  EXPECT_FALSE(judge(c, trace).suspects.empty());
}

}  // namespace
}  // namespace tally::without_suspects_test
