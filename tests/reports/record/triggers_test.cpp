#include "reports/record/triggers.hpp"

#include <gtest/gtest.h>

#include "reports/record/record.hpp"
#include "reports/report.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::triggers_test {
namespace {

std::vector<TriggerRecord> six() {
  std::vector<TriggerRecord> triggers;
  for (const char* kind : {"case", "case", "case", "kernel", "run", "later"})
    triggers.push_back({"t" + std::to_string(triggers.size()), "group", kind, "", 1, ""});
  return triggers;
}

TEST(Triggers, PairsAreBitsOfHexadecimalDigits) {
  TriggerRecord trigger;
  for (const std::size_t other : {0u, 3u, 5u}) see_with(trigger, other);

  EXPECT_EQ(trigger.pairs, "92");
  for (std::size_t other = 0; other < 12; ++other)
    EXPECT_EQ(was_seen_with(trigger, other), other == 0 || other == 3 || other == 5) << other;
}

TEST(Triggers, OfTwoPartsAddUp) {
  std::vector<TriggerRecord> whole = six(), part = six();
  see_with(whole[1], 0), see_with(part[1], 2), see_with(part[1], 5);
  part[3].seen = 7;

  merge_triggers(whole, part);

  EXPECT_EQ(whole[3].seen, 8u);
  EXPECT_TRUE(was_seen_with(whole[1], 0) && was_seen_with(whole[1], 2) && was_seen_with(whole[1], 5));
  EXPECT_FALSE(was_seen_with(whole[1], 3));
}

TEST(Triggers, OfOtherCampaignsDoNotAddUp) {
  std::vector<TriggerRecord> whole = six(), part = six();
  part[2].name = "another";

  EXPECT_THROW(merge_triggers(whole, part), std::runtime_error);
}

TEST(Triggers, TotalsCountWhatACampaignMustShow) {
  std::vector<TriggerRecord> triggers = six();
  triggers[4].seen = triggers[5].seen = 0;

  const TriggerTotals totals = trigger_totals(triggers);

  EXPECT_EQ(totals.expected, 5u);
  EXPECT_EQ(totals.unreached, 1u);
  EXPECT_EQ(totals.later, 1u);
}

TEST(Triggers, UnreachedFailTheDefaultCampaignAlone) {
  Results results = samples::passing();
  results.triggers[0].seen = 0;
  EXPECT_EQ(verdict_of(results), Status::pass);

  results.triggers_required = true;
  EXPECT_EQ(verdict_of(results), Status::fail);
  EXPECT_EQ(exit_code_of(results), 1);
  EXPECT_NE(verdict_sentence(results).find("1 of 3 triggers was not reached"), std::string::npos)
      << verdict_sentence(results);

  results.shard = "1/2";
  EXPECT_EQ(verdict_of(results), Status::pass);
}

TEST(Triggers, ThatComeLaterFailNothing) {
  Results results = samples::passing();
  results.triggers_required = true;

  EXPECT_EQ(results.triggers.back().kind, "later");
  EXPECT_EQ(verdict_of(results), Status::pass);
}

}  // namespace
}  // namespace tally::triggers_test
