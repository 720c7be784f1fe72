#include <gtest/gtest.h>

#include "reports/census/conclusions.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::clean_cases_test {
namespace {

Results with_cases(std::size_t count, Status status) {
  Results results;
  CaseRecord one;
  one.status = status;
  results.cases.assign(count, one);
  return results;
}

/// 59 cases are the fewest that hold a share below 5 % at 95 %: 0.95^59 < 0.05 < 0.95^58.
TEST(CleanCases, SayHowFewWouldFail) {
  EXPECT_EQ(clean_sentence(with_cases(59, Status::pass)),
            "59 cases judged, none failed: at most 4.95 % of such cases would (95 %, Clopper and Pearson)");
  EXPECT_NE(clean_sentence(with_cases(58, Status::pass)).find("at most 5.03 %"), std::string::npos);
}

TEST(CleanCases, SayNothingOfARunThatFailedOrJudgedNothing) {
  EXPECT_EQ(clean_sentence(samples::failing()), "");
  EXPECT_EQ(clean_sentence(with_cases(3, Status::not_run)), "");
  EXPECT_EQ(clean_sentence({}), "");
}

}  // namespace
}  // namespace tally::clean_cases_test
