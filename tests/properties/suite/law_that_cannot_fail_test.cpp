// Laws that cannot fail, or never run: the campaign's own records refuse them.
#include <gtest/gtest.h>

#include <stdexcept>

#include "properties/campaign/law_task.hpp"
#include "tests/properties/suite/small_plan.hpp"

namespace tally::law_that_cannot_fail_test {
namespace {

Outcome agrees(const Case&, const RunOptions&) { return {}; }
bool never(const Case&, const RunOptions&) { return false; }
void breaks(Plan&) { throw std::logic_error("the shape is broken"); }

Law law_of(void (*shape)(Plan&)) {
  Law law;
  law.name = "agrees_with_itself";
  law.shape = shape;
  law.holds = agrees;
  law.control = "something differs";
  law.differs = never;
  return law;
}

CampaignOptions three_cases() {
  CampaignOptions options;
  options.cases = 3;
  return options;
}

TEST(LawThatCannotFail, IsKnownByAControlThatNeverDiffers) {
  const TaskResult result = run_law_task(law_of(nullptr), Dtype::fp32, three_cases());
  ASSERT_EQ(result.cases.size(), 3u);
  EXPECT_FALSE(result.control_differs);

  LawRecord record;
  record.control = "something differs";
  record.cases = result.cases.size();
  record.control_differs = result.control_differs;
  EXPECT_TRUE(control_is_missing(record));
}

TEST(LawThatNeverRuns, IsAnErrorAndNoSilenceWhereItsShapeThrows) {
  EXPECT_THROW(run_law_task(law_of(breaks), Dtype::fp32, three_cases()), std::logic_error);
}

TEST(LawThatNeverRuns, IsRefusedWhereNoLawHasTheName) {
  CampaignOptions options = three_cases();
  for (const char* laws : {"no_such_law", "exact_lane,no_such_law", "no_such_law,exact_lane"}) {
    options.law_glob = laws;
    EXPECT_THROW(run_campaign(options), std::invalid_argument) << laws;
  }
}

}  // namespace
}  // namespace tally::law_that_cannot_fail_test
