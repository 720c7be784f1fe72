// A campaign in parts, in several processes, and with a case that does not end.
#include <gtest/gtest.h>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/law_task.hpp"
#include "reports/merge/merge.hpp"

namespace tally {
namespace {

CampaignOptions small_campaign() {
  CampaignOptions options;
  options.law_glob = "p*";
  options.cases = 3;
  options.training = false;
  options.seed = 11;
  return options;
}

TEST(Shards, merged_are_the_bytes_of_the_whole_whatever_the_number_of_processes) {
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

Outcome never_ends(const Case&, const Subject&) {
  for (volatile bool forever = true; forever;) {
  }
  return {};
}

TEST(Campaign, a_case_that_does_not_end_is_an_error_with_its_token) {
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

}  // namespace
}  // namespace tally
