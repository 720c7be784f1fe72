#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/compare/entry.hpp"

namespace tally::accuracy_test {
namespace {

using enum AccuracyVerdict;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// `cases` drifts and the same times `factor`, give or take `noise`.
PairedDrifts stratum(int cases, double factor, double noise = 0) {
  PairedDrifts drifts;
  for (int i = 0; i < cases; ++i) {
    drifts.before.push_back(0.2 + 0.001 * i);
    drifts.now.push_back(drifts.before.back() * factor * (1 + noise * (i % 2 ? 1 : -1)));
  }
  return drifts;
}

AccuracyVerdict verdict_of(const PairedDrifts& drifts, int strata = 1) {
  std::vector<PairedDrifts> all(static_cast<std::size_t>(strata), stratum(40, 1, 0.01));
  all.front() = drifts;
  return accuracies_of(all).front().verdict;
}

TEST(Accuracy, IsTheSameForEqualDriftsHoweverFew) {
  EXPECT_EQ(verdict_of({{0.5}, {0.5}}), same);
  EXPECT_EQ(verdict_of({{0, infinite}, {0, infinite}}), same);
  EXPECT_EQ(verdict_of({}), same);
}

TEST(Accuracy, TellsWorseAndBetterByMoreThanTheToleratedLoss) {
  EXPECT_EQ(verdict_of(stratum(40, 1.2)), worse);
  EXPECT_EQ(verdict_of(stratum(40, 1 / 1.2)), better);
  EXPECT_EQ(verdict_of(stratum(40, 1.05)), same);
  EXPECT_EQ(verdict_of(stratum(40, 1, 0.05)), same);
  EXPECT_EQ(verdict_of(stratum(40, 1.2), 100), worse);
}

TEST(Accuracy, IsUndecidedWithFewCasesOrMuchNoise) {
  EXPECT_EQ(verdict_of(stratum(4, 1.5)), undecided);
  EXPECT_EQ(verdict_of(stratum(8, 1.5), 100), undecided);  // enough alone, too few among a hundred
  EXPECT_EQ(verdict_of(stratum(8, 1.5)), worse);
  EXPECT_EQ(verdict_of(stratum(40, 1.05, 0.3)), undecided);
  EXPECT_EQ(verdict_of(stratum(4, 1, 0.01)), undecided);
}

TEST(Accuracy, IsWorseWhereOneErrorPassesItsBound) {
  PairedDrifts one{std::vector<double>(26, 0.4), std::vector<double>(26, 0.4)};
  one.now[7] = 165;
  const Accuracy found = accuracies_of({one}).front();
  EXPECT_EQ(found.verdict, worse);
  EXPECT_EQ(beyond_words(found), "165 times its bound in 1 case");
  EXPECT_EQ(verdict_of({one.now, one.now}), same) << "it was so before";
}

TEST(Accuracy, CountsErrorsThatAppearByTheirSigns) {
  PairedDrifts appeared, infinities;
  for (int i = 0; i < 12; ++i) {
    appeared.before.push_back(0), appeared.now.push_back(0.3);
    infinities.before.push_back(0.3), infinities.now.push_back(i == 0 ? infinite : std::nan(""));
  }
  EXPECT_EQ(verdict_of(appeared), worse);
  EXPECT_EQ(verdict_of({appeared.now, appeared.before}), better);
  EXPECT_EQ(verdict_of(infinities), worse);
  EXPECT_EQ(accuracies_of({infinities}).front().cases, 0u);
  EXPECT_EQ(verdict_of({{0, 0.3, 0.2}, {0.3, 0, 0.2}}), undecided);
}

TEST(Accuracy, TakesDriftsBelowTheFloorForNone) {
  EXPECT_EQ(verdict_of({std::vector<double>(40, drift_floor / 100), std::vector<double>(40, drift_floor)}), same);
}

TEST(Accuracy, IsNotDilutedByCasesThatAreExact) {
  PairedDrifts drifts = stratum(40, 1.2);
  for (int i = 0; i < 200; ++i) drifts.before.push_back(0), drifts.now.push_back(0);
  EXPECT_EQ(verdict_of(drifts), worse);
}

TEST(Accuracy, SpeaksOfFactorAndLimits) {
  const auto found = accuracies_of({stratum(40, 1.25)});
  EXPECT_EQ(text_of(found.front()), "1.25x [1.25, 1.25] worse");
  EXPECT_EQ(text_of(accuracies_of({stratum(40, 1)}).front()), "identical");
}

}  // namespace
}  // namespace tally::accuracy_test
