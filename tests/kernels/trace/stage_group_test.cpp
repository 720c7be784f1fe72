#include "kernels/trace/stage_group.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tally::stage_group_test {
namespace {

TEST(StageGroup, HoldsEveryStageBetweenItsFirstAndItsLast) {
  const StageGroup group{"unscale", "optimizer"};
  for (const char* stage : {"unscale", "norm", "clip", "decay", "optimizer"}) EXPECT_TRUE(group.holds(stage)) << stage;
  for (const char* stage : {"accumulate", "overflow_check", "scaler", "no stage"}) {
    EXPECT_FALSE(group.holds(stage)) << stage;
  }
}

TEST(StageGroup, IsReadBackAsItWasWritten) {
  const std::vector<StageGroup> groups{{"forward", "backward"}, {"unscale", "optimizer"}};
  EXPECT_EQ(stage_groups_of("forward..backward\nunscale..optimizer\n"), groups);
  EXPECT_EQ(stage_groups_of("forward..backward\nunscale..optimizer"), groups);
  EXPECT_TRUE(stage_groups_of("").empty());
}

TEST(StageGroup, IsRefusedWithItsLine) {
  for (const char* lines : {"unscale", "unscale..step", "clip..norm", "norm..clip\nclip..optimizer",
                            "forward..optimizer\nnorm..clip", "norm..clip\nforward..optimizer"}) {
    try {
      stage_groups_of(lines);
      ADD_FAILURE() << lines << " was read";
    } catch (const std::runtime_error& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("group '"), std::string::npos) << refusal.what();
    }
  }
}

}  // namespace
}  // namespace tally::stage_group_test
