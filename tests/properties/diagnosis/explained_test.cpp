#include "properties/diagnosis/explained.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tally::explained_test {
namespace {

HeldTensor tensor(Values expected, Values got) {
  return {TapName{0, 0, "accumulate", "buffer.w"}, Dtype::fp32, std::move(expected), std::move(got)};
}

TEST(Explained, ACandidateThatIsWhatCameExplainsEverything) {
  const Explained found = explained_by({tensor({1, 2, 3}, {4, 4, 4})}, {Values{4, 4, 4}}, false);

  EXPECT_EQ(found.share, 1);
  EXPECT_TRUE(found.within);
  EXPECT_LT(found.chance, 0x1p-23);
}

/// One number of a narrow format is hit by one formula in a few hundred.
TEST(Explained, ASingleNumberShowsNoMoreThanItsFormatHolds) {
  HeldTensor wide = tensor({1}, {3}), narrow = tensor({1}, {3});
  narrow.dtype = Dtype::bf16;

  EXPECT_GT(explained_by({narrow}, {Values{3}}, false).chance, 0x1p-12);
  EXPECT_LT(explained_by({wide}, {Values{3}}, false).chance, 0x1p-20);
}

TEST(Explained, AFormulaThatOnlyComesNearIsNotWithin) {
  const Explained found = explained_by({tensor({1, 2, 3}, {2.1, 4.2, 6.3})}, {Values{2, 4, 6}}, false);

  EXPECT_GT(found.share, 0.9);
  EXPECT_FALSE(found.within);
}

/// What rounding to the format leaves of the right value is no error that a formula may explain.
TEST(Explained, RoundingOfTheRightValueIsNoError) {
  HeldTensor rounded = tensor({1 + 0x1p-10, 3}, {1, 6});
  rounded.dtype = Dtype::bf16;

  EXPECT_EQ(explained_by({rounded}, {Values{1, 3}}, false).share, 0);
}

TEST(Explained, TheExpectationItselfExplainsNothing) {
  const Explained found = explained_by({tensor({1, 2, 3}, {4, 4, 4})}, {std::nullopt}, false);

  EXPECT_EQ(found.share, 0);
  EXPECT_EQ(found.chance, 1);
}

TEST(Explained, HalfWayLeavesAQuarterOfTheSquaredError) {
  const Explained found = explained_by({tensor({0, 0}, {2, -2})}, {Values{1, -1}}, false);

  EXPECT_EQ(found.share, 0.75);
  EXPECT_EQ(found.dimensions, 2);
  EXPECT_EQ(found.chance, 0.25);  // the area of a disc of half the radius
}

TEST(Explained, AFactorFitsAnySingleNumberAndSoShowsNothing) {
  const Explained found = explained_by({tensor({1}, {0.3})}, {Values{1}}, true);

  EXPECT_GT(found.share, 0.5);
  EXPECT_EQ(found.chance, 1);
}

TEST(Explained, AFactorCommonToManyNumbersIsNoChance) {
  const Explained found = explained_by({tensor({1, 2, -3, 4}, {0.5, 1, -1.5, 2})}, {Values{1, 2, -3, 4}}, true);

  EXPECT_EQ(found.factor, 0.5);
  EXPECT_EQ(found.share, 1);
  EXPECT_LT(found.chance, 0x1p-20);
}

TEST(Explained, OneWildElementCountsAsOne) {
  const Explained found = explained_by({tensor({0, 0, 0, 0}, {8, 0, 0, 0})}, {Values{7, 0, 0, 0}}, false);

  EXPECT_EQ(found.dimensions, 1);
}

TEST(Explained, ElementsThatAreNotFiniteAreMatchedByPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HeldTensor held = tensor({0, 0, 0, 0}, {nan, 0, nan, 0});

  EXPECT_EQ(explained_by({held}, {Values{nan, 0, nan, 0}}, false).share, 1);
  EXPECT_EQ(explained_by({held}, {Values{nan, 0, 0, 0}}, false).share, 0.5);
  EXPECT_EQ(explained_by({held}, {Values{0, 0, 0, 0}}, false).share, 0);

  const HeldTensor hidden = tensor({nan}, {1});
  EXPECT_TRUE(explained_by({hidden}, {Values{1}}, false).within);
  EXPECT_FALSE(explained_by({hidden}, {Values{0}}, false).within);
}

/// The chance given is that of a random direction: of 4000 of them in five dimensions, those that explain a share with
/// a chance of p or less are p of all, to five standard deviations of a binomial count.
TEST(Explained, RandomDirectionsDoAsWellAsTheirChanceSays) {
  constexpr int trials = 4000, n = 5;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const auto draw = [&] {
    Values v(n);
    for (double& x : v) x = normal(random);
    return v;
  };
  double energy = 0;
  int below = 0;
  constexpr double p = 0.2;
  for (int i = 0; i < trials; ++i) {
    const Values error = draw(), direction = draw();
    double along = 0, size = 0, all = 0;
    for (std::size_t k = 0; k < n; ++k) {
      along += error[k] * direction[k], size += direction[k] * direction[k], all += error[k] * error[k];
    }
    HeldTensor held = tensor(Values(n, 0.0), error);
    held.dtype = Dtype::fp32;
    Explained found = explained_by({held}, {direction}, true);
    energy += along * along / (size * all);
    found.dimensions = n;
    below += found.share > 0 && found.chance <= p;
  }

  const double mean = energy / trials, deviation = std::sqrt(2.0 * (n - 1) / (n * n * (n + 2.0)) / trials);
  EXPECT_LE(std::fabs(mean - 1.0 / n), 5 * deviation);
  // Participation counts at most n dimensions, so that the chance given is never smaller than the true one.
  EXPECT_LE(below, trials * p + 5 * std::sqrt(trials * p * (1 - p)));
  EXPECT_GT(below, 0);
}

}  // namespace
}  // namespace tally::explained_test
