#include <gtest/gtest.h>

#include "reports/compare/comparison.hpp"

namespace tally::kernel_timing_test {
namespace {

/// Thirty cases of a law; the operation takes `factor` times as long in `now`, in every fourth case a tenth less.
TimedPair pair_of(double factor) {
  TimedPair pair;
  for (int i = 0; i < 30; ++i) {
    const std::string id = std::to_string(i);
    const double before = 1 + i % 5, now = before * factor * (i % 4 == 0 ? 0.9 : 1);
    pair.before.push_back({"law", "fp32", id, "norm", before});
    pair.now.push_back({"law", "fp32", id, "norm", now});
  }
  return pair;
}

std::string verdict_of(const std::vector<TimedPair>& pairs) { return kernel_timings_of(pairs).at(0).verdict; }

TEST(KernelTiming, DecidesFromThreePairsOfRunsThatAgree) {
  EXPECT_EQ(verdict_of({pair_of(1.5), pair_of(1.5), pair_of(1.5)}), "slower");
  EXPECT_EQ(verdict_of({pair_of(0.5), pair_of(0.5), pair_of(0.5)}), "faster");
  EXPECT_EQ(verdict_of({pair_of(1), pair_of(1), pair_of(1)}), "same");
  EXPECT_EQ(verdict_of({pair_of(1.5), pair_of(1.5)}), "undecided");
}

TEST(KernelTiming, OneRunThatWasSlowAltogetherDecidesNothing) {
  const auto timings = kernel_timings_of({pair_of(1), pair_of(3), pair_of(1)});
  EXPECT_EQ(timings.at(0).verdict, "undecided");
  EXPECT_LE(timings.at(0).low, 1);
  EXPECT_GE(timings.at(0).high, 2.7);
}

TEST(KernelTiming, ComparesOnlyWhatBothTimed) {
  TimedPair pair{{{"law", "fp32", "a", "norm", 1}, {"law", "fp32", "b", "norm", 1}, {"law", "fp32", "c", "sgd", 0}},
                 {{"law", "fp32", "a", "norm", 2}, {"law", "fp16", "b", "norm", 9}, {"law", "fp32", "c", "sgd", 1}}};
  const auto timings = kernel_timings_of({pair});
  ASSERT_EQ(timings.size(), 1u);
  EXPECT_EQ(timings[0].cases, 1u);
  EXPECT_EQ(timings[0].operation, "norm");
}

TEST(KernelTiming, APageNamesWhatIsSlowerAndCountsTheRest) {
  std::vector<TimedPair> pairs{pair_of(2), pair_of(2), pair_of(2)};
  for (TimedPair& pair : pairs)
    for (auto* side : {&pair.before, &pair.now})
      for (int i = 0; i < 30; ++i) side->push_back({"law", "fp32", std::to_string(i), "sgd", 1});
  const std::string page = kernel_timings_markdown(kernel_timings_of(pairs));
  EXPECT_NE(page.find("| norm | fp32 | slower | 2x |"), std::string::npos) << page;
  EXPECT_NE(page.find("time of the other 1 kernel operation: 1 the same, 0 undecided"), std::string::npos) << page;
  EXPECT_EQ(kernel_timings_markdown({}), "");
  EXPECT_NE(kernel_timings_text(kernel_timings_of({pair_of(2)})).find("--repeat 3 can decide"), std::string::npos);
}

}  // namespace
}  // namespace tally::kernel_timing_test
