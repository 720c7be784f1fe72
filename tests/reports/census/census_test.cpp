#include "reports/census/census.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/reports/samples/samples.hpp"

namespace tally::census_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Severity, NotANumberIsWorseThanInfinityAndThatThanAnyNumber) {
  EXPECT_TRUE(ratio_is_worse(std::nan(""), infinity));
  EXPECT_FALSE(ratio_is_worse(infinity, std::nan("")));
  EXPECT_FALSE(ratio_is_worse(std::nan(""), std::nan("")));
  EXPECT_TRUE(ratio_is_worse(infinity, 2));
  EXPECT_TRUE(ratio_is_worse(2, 1));
  EXPECT_EQ(worst_of({1, infinity, 3}), infinity);
  EXPECT_TRUE(std::isnan(worst_of({1, std::nan(""), infinity})));
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2);
}

TEST(Severity, PutsFailuresFirstThenTheLargestRatio) {
  const Results results = samples::failing();
  const auto cases = by_severity(results);
  ASSERT_EQ(cases.size(), results.cases.size());
  EXPECT_TRUE(std::isnan(cases[0]->worst_local_ratio));
  EXPECT_EQ(cases[1]->worst_local_ratio, infinity);
  EXPECT_EQ(cases[2]->worst_local_ratio, 3.88);
  EXPECT_EQ(cases[3]->status, Status::error);
  EXPECT_EQ(cases[4]->status, Status::pass);
  EXPECT_EQ(cases.back()->status, Status::not_run);
}

TEST(Groups, AreSortedByLawThenFromWideToNarrow) {
  const Results results = samples::failing();
  const auto groups = groups_of(results);
  ASSERT_EQ(groups.size(), 9u);
  EXPECT_EQ(groups[0].law + " " + groups[0].precision, "loss-scale fp32");
  EXPECT_EQ(groups[2].law + " " + groups[2].precision, "loss-scale bf16");
  EXPECT_EQ(groups[0].total, 28u);
  EXPECT_EQ(groups[0].status(), Status::error);
  EXPECT_EQ(groups[1].status(), Status::fail);
  EXPECT_EQ(groups[1].worst_ratio, 3.88);
  EXPECT_EQ(groups[2].status(), Status::pass);
}

TEST(Census, CountsCasesByStatus) {
  const Results results = samples::failing();
  const Census census = census_of(results);
  EXPECT_EQ(census.total, 252u);
  EXPECT_EQ(census.cases_of(Status::fail), 3u);
  EXPECT_EQ(census.cases_of(Status::error), 1u);
  EXPECT_EQ(census.cases_of(Status::vacuous), 1u);
  EXPECT_EQ(census.cases_of(Status::not_run), 1u);
  EXPECT_EQ(census.cases_of(Status::pass), 246u);
  EXPECT_EQ(census.faults_missed, 1u);
}

}  // namespace
}  // namespace tally::census_test
