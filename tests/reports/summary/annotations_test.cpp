#include <gtest/gtest.h>

#include <algorithm>

#include "reports/summary/summary.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::annotations_test {
namespace {

TEST(Annotations, AreNoneWhereNothingFailed) { EXPECT_EQ(github_annotations(samples::passing()), ""); }

TEST(Annotations, StandWorstFirstOneALine) {
  const std::string text = github_annotations(samples::failing());
  EXPECT_TRUE(text.starts_with("::error title=")) << text;
  EXPECT_LT(text.find("An element is NaN"), text.find("3.88 times its bound"));
  for (const char* part : {"seeded fault unscale-twice", "its control does not differ", "Window 12, stage optimizer."})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Annotations, CountWhatTheyLeaveOut) {
  Results results = samples::failing();
  for (CaseRecord& c : results.cases) c.status = Status::fail;
  const std::string text = github_annotations(results);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_NE(text.find("\n::error title=and 246 more::"), std::string::npos) << text;
}

TEST(Annotations, CannotBeEndedByWhatTheySay) {
  Results results = samples::failing();
  for (CaseRecord& c : results.cases) c.message = "100 %\n::warning::a, b", c.title = "x::y,z%\r\n";
  const std::string text = github_annotations(results);
  EXPECT_EQ(text.find("\n::warning"), std::string::npos);
  EXPECT_NE(text.find("100 %25"), std::string::npos);
  EXPECT_NE(text.find("x%3A%3Ay%2Cz%25"), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::annotations_test
