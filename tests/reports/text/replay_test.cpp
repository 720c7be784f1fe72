#include <gtest/gtest.h>

#include "reports/report.hpp"
#include "reports/summary/summary.hpp"
#include "reports/text/markup.hpp"
#include "reports/text/words.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::replay_test {
namespace {

TEST(ReplayCommand, IsQuotedForAShellWhereItMustBe) {
  EXPECT_EQ(replay_command(""), "");
  EXPECT_EQ(replay_command("tly1:8c1f"), "./tally replay tly1:8c1f");
  EXPECT_EQ(replay_command("it's; rm"), "./tally replay 'it'\\''s; rm'");
  Environment ran;
  ran.fault = "x; rm";
  EXPECT_EQ(subject_options(ran), " --fault 'x; rm'");
}

TEST(ReplayCommand, CarriesWhatTheTokenDoesNot) {
  CaseRecord c;
  Environment ran;
  EXPECT_EQ(replay_command(c, ran), "");
  c.token = "tly1:abc", c.law = "some_law";
  EXPECT_EQ(replay_command(c, ran), "./tally replay tly1:abc --law some_law");
  ran.executor = "host", ran.fault = "mean-of-means";
  EXPECT_EQ(replay_command(c, ran), "./tally replay tly1:abc --law some_law --subject host --fault mean-of-means");
  ran.magnitude = 0.25, ran.kernels = {"a=b", "c=d"};
  EXPECT_EQ(subject_options(ran), " --subject host --fault mean-of-means --magnitude 0.25 --kernel a=b --kernel c=d");
}

TEST(ReplayCommand, OfAFaultHasAsMuchOfTheBugAsWasCaughtAndTheShippedKernels) {
  FaultRecord fault;
  Environment ran;
  ran.executor = "host", ran.kernels = {"a=b"};  // a seeded fault runs with stages of its own
  fault.name = "mean-of-means";
  EXPECT_EQ(replay_command(fault, ran), "");
  fault.token = "tly1:abc", fault.law = "some_law";
  EXPECT_EQ(replay_command(fault, ran), "./tally replay tly1:abc --law some_law --subject host --fault mean-of-means");
  fault.magnitude = 0.25;
  EXPECT_EQ(replay_command(fault, ran),
            "./tally replay tly1:abc --law some_law --subject host --fault mean-of-means --magnitude 0.25");
}

TEST(ReplayCommand, IsWholeWhereverAFailingCaseIsShown) {
  const Results results = samples::failing();
  std::size_t failed = 0;
  for (const CaseRecord& c : results.cases) {
    if (c.status != Status::fail) continue;
    ++failed;
    const std::string command = replay_command(c, results.environment);
    ASSERT_NE(command.find(" --fault extra-times-k --magnitude 0.25 --kernel matmul=tiled"), std::string::npos);
    for (const std::string& shown : {terminal_summary(results), summary_markdown(results), junit_xml(results),
                                     report_html(results), github_annotations(results)})
      EXPECT_TRUE(shown.find(command) != std::string::npos || shown.find(escaped(command)) != std::string::npos);
  }
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace tally::replay_test
