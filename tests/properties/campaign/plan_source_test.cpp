#include <gtest/gtest.h>

#include <set>

#include "oracle/case/io.hpp"
#include "properties/campaign/law_task.hpp"
#include "properties/generators/random_plan.hpp"

namespace tally::plan_source_test {
namespace {

std::vector<std::string> drawn(std::uint64_t seed, double reward, int count = 24) {
  PlanSource source(Dtype::fp32, seed, count);
  std::vector<std::string> hashes;
  for (int i = 0; i < count; ++i) {
    hashes.push_back(hash_of(case_of(source.next())));
    source.reward(i % 5 == 0 ? reward : 0);
  }
  return hashes;
}

TEST(PlanSource, IsAFunctionOfSeedAndRewards) {
  EXPECT_EQ(drawn(7, 3), drawn(7, 3));
  EXPECT_NE(drawn(7, 3), drawn(8, 3));
}

TEST(PlanSource, BreedsOnePlanInFourOnceSomethingWasRewarded) {
  const auto bred = drawn(7, 3), alone = drawn(7, 0);

  std::size_t different = 0;
  for (std::size_t i = 0; i < bred.size(); ++i) {
    EXPECT_TRUE((i + 1) % 4 == 0 || bred[i] == alone[i]) << i;
    different += bred[i] != alone[i];
  }
  EXPECT_EQ(different, bred.size() / 4);
}

TEST(PlanSource, OfBredPlansEveryOneMakesAValidCase) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Plan parent = random_plan(Dtype::fp16)(rc::Random(seed), rc::kNominalSize).value();
    const Plan other = random_plan(Dtype::fp16)(rc::Random(seed + 1000), rc::kNominalSize).value();
    EXPECT_NO_THROW(case_of(bred(parent, other, seed))) << seed;
  }
}

TEST(PlanSource, GivesSmallShapesFirst) {
  std::int64_t first = 0, last = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PlanSource source(Dtype::fp32, seed, 40);
    for (int i = 0; i < 40; ++i) {
      const std::int64_t rows = source.next().windows[0][0];
      (i < 10 ? first : last) = std::max(i < 10 ? first : last, i < 10 || i >= 30 ? rows : 0);
    }
  }
  EXPECT_LT(first, last);
}

}  // namespace
}  // namespace tally::plan_source_test
