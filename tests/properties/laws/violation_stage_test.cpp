// At which stage a run broke off, by what ranks waited for.
#include <gtest/gtest.h>

#include "properties/laws/judge.hpp"

namespace tally::violation_stage_test {
namespace {

TEST(ViolationStage, IsTheOneThatRanksWaitIn) {
  EXPECT_EQ(stage_of_violation("deadlock: stage 0 waits for w1/agree of stages from stage 1, which has ended"),
            "agree");
  EXPECT_EQ(stage_of_violation("deadlock: rank 1 waits for w0/m2/send, part 0 to 1 from rank 0, which has ended"),
            "send");
  EXPECT_EQ(stage_of_violation("mismatched: rank 0 sent 4 bytes of w0/reduce, bucket 0 where rank 1 waits for 8"),
            "reduce");
}

TEST(ViolationStage, IsTheEarliestWhereRanksWaitInSeveral) {
  EXPECT_EQ(
      stage_of_violation("deadlock: rank 0 waits for w1/reduce, bucket 0 from rank 1, which waits for w0/agree from "
                         "rank 0"),
      "agree");
  EXPECT_EQ(stage_of_violation("deadlock: rank 0 waits for w0/agree from rank 1, which waits for w0/m12/reduce from "
                               "rank 0"),
            "reduce");
}

TEST(ViolationStage, IsTheKernelsOfEverythingElse) {
  EXPECT_EQ(stage_of_violation("a guard zone of fc1.weight was written to"), "kernel");
  EXPECT_EQ(stage_of_violation("deadlock: rank 0 waits for w0/broadcast, bn.running_mean from rank 1"), "kernel");
  EXPECT_EQ(stage_of_violation(""), "kernel");
}

}  // namespace
}  // namespace tally::violation_stage_test
