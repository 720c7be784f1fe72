// A campaign in parts, in several processes, and with a case that does not end.
#include <gtest/gtest.h>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/law_task.hpp"
#include "reports/merge/merge.hpp"

namespace tally::shards_test {
namespace {

CampaignOptions small_campaign() {
  CampaignOptions options;
  options.law_glob = "p*";
  options.cases = 3;
  options.training = false;
  options.seed = 11;
  return options;
}

TEST(Shards, MergedAreTheBytesOfTheWholeWhateverTheNumberOfProcesses) {
  CampaignOptions options = small_campaign();
  options.processes = 1;
  const std::string whole = to_json(run_campaign(options));

  options.processes = 3;
  std::vector<Results> shards;
  for (const int i : {3, 1, 2}) {
    options.shard = {i, 3, "a few laws"};
    shards.push_back(run_campaign(options));
  }

  EXPECT_EQ(to_json(merged(shards, {})), whole);
}

TEST(Campaign, RunsTheLawsOfEveryPatternOnceAndInTheirOwnOrder) {
  CampaignOptions options = small_campaign();
  options.law_glob = "optimizer_state_*,exact_l*,exact_lane", options.cases = 1;

  const Results results = run_campaign(options);

  ASSERT_EQ(results.laws.size(), 2u);
  EXPECT_EQ(results.laws[0].name, "exact_lane");
  EXPECT_EQ(results.laws[1].name, "optimizer_state_ignores_k");
}

Outcome never_ends(const Case&, const RunOptions&) {
  for (volatile bool forever = true; forever;) {
  }
  return {};
}

TEST(Campaign, ACaseThatDoesNotEndIsAnErrorWithItsToken) {
  Law law;
  law.name = "never_ends";
  law.statement = "A law that does not come to an end.";
  law.holds = never_ends;
  CampaignOptions options = small_campaign();
  options.case_seconds = 0.2;
  const Abandon abandon = [](const TaskResult& found) {
    const bool told = found.cases.size() == 1 && found.cases[0].status == Status::error &&
                      found.cases[0].token.starts_with("tly1:") &&
                      found.cases[0].message.find("longer than") != std::string::npos;
    _exit(told ? 42 : 1);
  };

  EXPECT_EXIT(run_law_task(law, Dtype::fp32, options, abandon), testing::ExitedWithCode(42), "");
}

Outcome holds(const Case&, const RunOptions&) { return {}; }

/// The same cases up to there, and the one that the process died of; signals from outside are nobody's fault.
TEST(Campaign, ATaskWhoseProcessDiedEndsWithTheCaseThatItDiedOf) {
  Law law;
  law.name = "holds";
  law.statement = "A law that always holds.";
  law.holds = holds;
  CampaignOptions options = small_campaign();
  options.cases = 5;
  const TaskResult whole = run_law_task(law, Dtype::fp32, options);
  ASSERT_EQ(whole.cases.size(), 5u);

  for (const bool from_outside : {false, true}) {
    const Death death{"signal 11 (Segmentation fault)", from_outside, (1u << 16) + 6};  // each is drawn, then run
    const TaskResult ended = run_law_task(law, Dtype::fp32, options, {}, &death);

    ASSERT_EQ(ended.cases.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(ended.cases[i].token, whole.cases[i].token);
    const CaseRecord& last = ended.cases.back();
    EXPECT_EQ(last.status, from_outside ? Status::error : Status::fail);
    EXPECT_EQ(last.first_stage, from_outside ? "" : "kernel");
    EXPECT_NE(last.message.find("signal 11 (Segmentation fault)"), std::string::npos) << last.message;
    EXPECT_TRUE(ended.failing);
  }
}

TEST(Shards, OneOfOneMergesToo) {
  CampaignOptions options = small_campaign();
  const std::string whole = to_json(run_campaign(options));
  options.shard = {1, 1, "all of it"};

  EXPECT_EQ(to_json(merged({run_campaign(options)}, {})), whole);
}

}  // namespace
}  // namespace tally::shards_test
