#include "properties/lab/evidence/hill_climb.hpp"

#include <gtest/gtest.h>

#include "oracle/case/io.hpp"
#include "properties/faults/fault.hpp"

namespace tally::hill_climb_test {
namespace {

TEST(HillClimb, RaisesRAndStaysBelowTheBound) {
  const Climbs climbs = climb(clean_case(3, 0, {}), 60, 5);

  ASSERT_FALSE(climbs.empty());
  std::uint64_t improved = 0;
  for (const auto& [place, climb] : climbs) {
    EXPECT_GE(climb.best, climb.first) << place.second;
    EXPECT_LE(climb.best, 1) << place.second;
    EXPECT_TRUE(climb.token.empty()) << place.second;
    improved += climb.improved;
  }
  EXPECT_GT(improved, 0u);
}

TEST(HillClimb, RepeatsForTheSameSeed) {
  const CleanCase start = clean_case(3, 3, {});

  EXPECT_EQ(climb(start, 20, 5), climb(start, 20, 5));
  EXPECT_NE(climb(start, 20, 5), climb(start, 0, 5));
}

TEST(HillClimb, HandsOverACaseToReplayWhereABoundIsBroken) {
  RunOptions faulty;
  faulty.stages = &find_fault("sum-not-mean")->stages();
  bool broken = false;

  for (const auto& [place, climb] : climb(clean_case(3, 0, faulty), 5, 5)) {
    if (climb.best <= 1) continue;
    broken = true;
    EXPECT_FALSE(climb.token.empty()) << place.second;
  }
  EXPECT_TRUE(broken);
}

TEST(HillClimb, ReadsBackFromItsText) {
  Climbs climbs;
  climbs[{"fp32", "forward linear"}] = {0.25, 1.0 / 3, 4, "w0/m0/forward/fc1.y", ""};
  climbs[{"bf16", "norm"}] = {0.5, 2, 1, "w0/norm/norm", "tly1:abc"};

  EXPECT_EQ(climbs_of_text(text_of(climbs)), climbs);
  EXPECT_THROW(climbs_of_text("fp32\tnorm\t0x1p-1\n"), std::runtime_error);
}

TEST(Change, LeavesAValidCaseAndSomethingChanged) {
  CleanCase made = clean_case(3, 4, {});
  executor::Schedule random(9);
  const std::string before = hash_of(made.c);
  for (int i = 0; i < 200; ++i) {
    change(made, random);
    ASSERT_TRUE(validate(made.c).empty()) << "after change " << i;
  }
  EXPECT_NE(hash_of(made.c), before);
}

}  // namespace
}  // namespace tally::hill_climb_test
