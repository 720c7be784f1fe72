#include <gtest/gtest.h>

#include <limits>

#include "properties/lab/language_models/family.hpp"

namespace tally::element_counts_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Six numbers of fp32 in three rows, and what was expected of them.
class CountElements : public testing::Test {
 protected:
  void hold(std::vector<double> got, std::vector<double> v, std::vector<double> e) {
    Tensor tensor(Dtype::fp32, {3, 2});
    oracle::Expected expected{oracle::Matrix<long double>(3, 2), oracle::Matrix<double>(3, 2)};
    for (std::size_t i = 0; i < got.size(); ++i) {
      tensor.set(i, got[i]);
      expected.v.data()[i] = v[i];
      expected.e.data()[i] = e[i];
    }
    count_elements(strata, {"clean"}, {expected, tensor, parts, 7, "a tap"});
  }
  Stratum of(const std::string& part) const { return strata.sum({"clean", part}); }

  std::vector<std::string> parts;
  Strata strata;
};

TEST_F(CountElements, TakesErrorOverBoundOfEach) {
  hold({1, 2, 3, 4, 5, 6}, {1.25, 2, 3, 4.5, 5, 6}, {1, 1, 1, 0.25, 1, 1});

  const Stratum all = of("all");
  EXPECT_EQ(all.judged, 6u);
  EXPECT_EQ(all.alarms, 1u);
  EXPECT_EQ(all.worst, 2);
  EXPECT_EQ(all.worst_case, 7u);
  EXPECT_EQ(all.worst_tap, "a tap");
  EXPECT_EQ(all.ratios.count(), 6u);
  EXPECT_EQ(all.ratios.count_in(0), 4u) << "exact";
  EXPECT_EQ(all.ratios.count_in(RatioHistogram::bin_of(0.25)), 1u);
  EXPECT_EQ(strata.sum(excess_labels({"clean", "all"})).worst, 2) << "of a broken bound r";
}

TEST_F(CountElements, CountsWhatIsKnownOrUndecidedApart) {
  hold({1, 2, 3, 4, infinite, 6}, {1, 2.5, 3, 4, 5, 6}, {0, 0, infinite, 8, 1, 1});

  const Stratum all = of("all");
  EXPECT_EQ(all.checks, 4u) << "not the exact one whose bits are known, nor the one that is not finite";
  EXPECT_EQ(all.judged, 3u);
  EXPECT_EQ(all.vacuous, 2u) << "a bound that is infinite, and one larger than the value";
  EXPECT_EQ(all.alarms, 1u) << "the wrong one whose bits are known";
  EXPECT_EQ(all.worst, infinite);
}

TEST_F(CountElements, GoesByTheWordsOfTheRows) {
  parts = {"near", "far", "near"};
  hold({1, 2, 3, 4, 5, 6}, {1, 2, 3.5, 4, 5, 6.25}, {1, 1, 1, 1, 1, 1});

  EXPECT_EQ(of("near").judged, 4u);
  EXPECT_EQ(of("near").worst, 0.25);
  EXPECT_EQ(of("far").judged, 2u);
  EXPECT_EQ(of("far").worst, 0.5);
}

}  // namespace
}  // namespace tally::element_counts_test
