#include <gtest/gtest.h>

#include "oracle/case/ranks.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/generators/plan.hpp"
#include "properties/laws/law.hpp"
#include "reports/report.hpp"
#include "tests/properties/compare/three_ranks.hpp"

namespace tally::junit_names_test {
namespace {

/// As it stands in junit.xml.
std::string name_in_junit(const Case& c) {
  Results results;
  results.cases = {record_of(c, *find_law("ranks_equal_full_batch"), Outcome{})};
  const std::string text = junit_xml(results), id = "[c-" + results.cases.front().id + "]";
  const auto end = text.find(id);
  const auto begin = text.rfind("name=\"", end);
  return text.substr(begin, end - begin);
}

TEST(JunitNames, CarryTheTagOfRanksWhereSeveralTrain) {
  Plan plan = three::small_plan();
  plan.ranks = 3;
  const Case together = case_of(plan);
  plan.ranks = 1;
  const Case alone = case_of(plan);

  const std::string several = name_in_junit(together), one = name_in_junit(alone);

  EXPECT_EQ(ranks_of(together), 3u);
  EXPECT_TRUE(several.ends_with(" [ranks] ")) << several;
  EXPECT_EQ(one.find("[ranks]"), std::string::npos) << one;
}

}  // namespace
}  // namespace tally::junit_names_test
