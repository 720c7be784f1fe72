#include <gtest/gtest.h>

#include <algorithm>

#include "properties/faults/trials/trials.hpp"

namespace tally::equivalent_task_test {
namespace {

TEST(EquivalentMutants, PassEveryLawTheyName) {
  CampaignOptions options;
  options.cases = 4;
  const auto answers = run_equivalents(options);
  ASSERT_FALSE(answers.empty());
  for (const EquivalentAnswer& answer : answers) {
    EXPECT_TRUE(answer.passes) << answer.name << ": " << answer.message;
    EXPECT_GT(answer.cases, 0u) << answer.name;
  }
}

TEST(EquivalentMutants, AreToldApartFromOneThatALawFlags) {
  const std::string text = text_of({{"same", "a change", "a reason", true, 3, ""},
                                    {"other", "a change", "a reason", false, 2, "some_law: w0/loss"}});
  EXPECT_NE(text.find("✓ passes   same"), std::string::npos) << text;
  EXPECT_NE(text.find("✗ FLAGGED  other"), std::string::npos) << text;
  EXPECT_NE(text.find("some_law: w0/loss"), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::equivalent_task_test
