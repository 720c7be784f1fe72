#include "reports/census/unusual.hpp"

#include <gtest/gtest.h>

#include "reports/record/study.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::unusual_test {
namespace {

Results with_evidence() {
  Results results = samples::passing();
  results.studies = samples::studies();
  return results;
}

TEST(Usual, KnowsNothingWithoutEvidence) {
  const Results results = samples::passing();
  const Usual usual(results);
  EXPECT_FALSE(usual.known());
  EXPECT_EQ(usual.share("accumulate", "fp32", 0.5), 1);
  EXPECT_EQ(usual.text("accumulate", "fp32", 0.5), "");
}

TEST(Usual, ReadsSharesOffTheQuantiles) {
  const Results results = with_evidence();
  const Usual usual(results);
  EXPECT_EQ(usual.share("accumulate", "fp32", 0), 1);
  const double tail[] = {0.5, 0.1, 0.01, 0.001};  // of the table
  EXPECT_EQ(usual.share("accumulate", "fp32", 0.01953125), tail[1]);
  EXPECT_EQ(usual.share("accumulate", "fp32", 0.3125), tail[3]);
  const double between = usual.share("accumulate", "fp32", 0.2);
  EXPECT_LT(between, tail[2]);
  EXPECT_GT(between, tail[3]);
  EXPECT_GT(usual.share("accumulate", "fp32", 0.59), 1 / 20000.0);
  EXPECT_LT(usual.share("accumulate", "fp32", 0.61), 1 / 20000.0);  // beyond all
  EXPECT_EQ(usual.text("accumulate", "fp32", 0.3125), "1 in 1,000 clean tensors");
  EXPECT_EQ(usual.text("accumulate", "fp32", 0.61), "beyond all of 20,000 clean tensors");
}

/// The table's quantiles are edges of bins: what lies above the one at 0.5 may be any of the bin's.
TEST(Usual, CallsNothingRarerThanItsBin) {
  Results results = with_evidence();
  for (Study& study : results.studies)
    for (StudyTable& table : study.tables)
      if (table.title == excess_table)
        for (std::size_t i = 4; i < 8; ++i) table.columns[i].numbers.back() = 0.5;
  EXPECT_EQ(Usual(results).text("accumulate", "fp32", 0.55), "1 in 10 clean tensors");
  EXPECT_EQ(Usual(results).text("accumulate", "fp32", 0.61), "beyond all of 20,000 clean tensors");
}

TEST(Usual, TakesAllOperationsOfAFormatForOneThatWasNotCounted) {
  const Results results = with_evidence();
  const Usual usual(results);
  EXPECT_EQ(usual.share("a new kernel", "fp32", 0.4), usual.share("all", "fp32", 0.4));
  EXPECT_EQ(usual.share("a new kernel", "fp8", 0.4), 1);
}

TEST(Usual, RefusesATableThatIsCut) {
  Results results = with_evidence();
  for (Study& study : results.studies)
    for (StudyTable& table : study.tables)
      if (table.title == excess_table) table.columns.back().numbers.pop_back();
  EXPECT_FALSE(Usual(results).known());
}

TEST(Unusual, RanksASmallExcessThatIsRareBeforeALargeOneThatIsNot) {
  Results results = with_evidence();
  for (CaseRecord& c : results.cases) c.operations[0].standing.excess = 0;
  CaseRecord &often = results.cases[3], &seldom = results.cases[5];
  often.operations[0].operation = "another", often.operations[0].standing.excess = 0.35;
  seldom.operations[0].standing.excess = 0.33;  // of accumulate, 99.9 % of which lie below 0.3125
  const Usual usual(results);
  const auto cases = by_unusualness(results, usual);
  EXPECT_EQ(cases[0], &seldom);
  EXPECT_EQ(cases[1], &often);
  EXPECT_EQ(most_unusual(seldom, usual)->operation, "accumulate");
  EXPECT_EQ(most_unusual(results.cases[6], usual), nullptr);
}

TEST(Unusual, LeavesFailingCasesInFront) {
  const Results results = samples::failing();
  const auto cases = by_unusualness(results, Usual(results));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cases[static_cast<std::size_t>(i)]->status, Status::fail);
  EXPECT_EQ(cases[3]->status, Status::error);
}

}  // namespace
}  // namespace tally::unusual_test
