#include <gtest/gtest.h>

#include <limits>

#include "properties/lab/evidence/strata.hpp"

namespace tally::ratio_histogram_test {
namespace {

TEST(RatioHistogram, PutsARatioIntoTheBinWhoseEdgesEncloseIt) {
  for (double r : {0x1p-40, 0x1.1p-7, 0x1.fffp-2, 0.5, 0.75, 0x1.fffffffffffffp-1}) {
    const int bin = RatioHistogram::bin_of(r);
    EXPECT_LE(RatioHistogram::lower_edge(bin), r);
    EXPECT_LT(r, RatioHistogram::lower_edge(bin + 1));
  }
}

TEST(RatioHistogram, KeepsEverythingFrom1OnApartAndCountsTheSmallestInItsFirstBin) {
  EXPECT_EQ(RatioHistogram::bin_of(1), RatioHistogram::bins - 1);
  EXPECT_EQ(RatioHistogram::bin_of(std::numeric_limits<double>::infinity()), RatioHistogram::bins - 1);
  EXPECT_EQ(RatioHistogram::bin_of(std::numeric_limits<double>::quiet_NaN()), RatioHistogram::bins - 1);
  EXPECT_EQ(RatioHistogram::bin_of(0x1p-900), 0);
}

TEST(RatioHistogram, GivesQuantilesFromBelow) {
  RatioHistogram ratios;
  EXPECT_EQ(ratios.quantile(0.5), 0);
  for (const double r : {0.125, 0.25, 0.5, 0.5625}) ratios.add(r);

  EXPECT_EQ(ratios.quantile(0.25), 0.125);
  EXPECT_EQ(ratios.quantile(0.5), 0.25);
  EXPECT_EQ(ratios.quantile(0.9), 0.5625);
  EXPECT_EQ(ratios.count(), 4u);
}

}  // namespace
}  // namespace tally::ratio_histogram_test
