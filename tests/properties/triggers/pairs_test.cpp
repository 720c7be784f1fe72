#include <gtest/gtest.h>

#include <algorithm>

#include "properties/campaign/coverage/coverage.hpp"
#include "properties/campaign/coverage/coverage_point.hpp"
#include "properties/generators/settings.hpp"

namespace tally::pairs_test {
namespace {

std::size_t place_of(const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(settings(), name, &CaseSetting::name) - settings().begin());
}

/// What a campaign has on record where every pair was shown but these.
std::vector<TriggerRecord> records_without(const std::vector<std::pair<std::string, std::string>>& missing) {
  std::vector<TriggerRecord> records = Coverage().records();
  std::vector<std::pair<std::size_t, std::size_t>> left_out;
  for (const auto& [a, b] : missing) left_out.emplace_back(std::minmax(place_of(a), place_of(b)));
  for (std::size_t i = 0; i < settings().size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::ranges::count(left_out, std::pair{j, i}) == 0) see_with(records[triggers().size() + i], j);
  return records;
}

TEST(Pairs, AreAllSeenWhereEveryOneWasShown) {
  const PairsRecord pairs = pairs_of(records_without({}));
  EXPECT_GT(pairs.seen, 0u);
  EXPECT_EQ(pairs.refused, 0u);
  EXPECT_TRUE(pairs.unseen.empty());
}

TEST(Pairs, ThatNoRunShowedAreRefusedByARuleOrNamed) {
  const PairsRecord pairs = pairs_of(records_without(
      {{"ranks, communicate = running_total", "ranks, sharding = optimizer"}, {"layer rms_norm", "optimizer adam"}}));
  EXPECT_EQ(pairs.refused, 1u);
  EXPECT_EQ(pairs.unseen, std::vector<std::string>{"layer rms_norm beside optimizer adam"});
  EXPECT_EQ(pairs_sentence(pairs), std::to_string(pairs.seen) + " of " + std::to_string(pairs.seen + 1) +
                                       " pairs of settings stood together, rules keep 1 more apart");
}

TEST(Pairs, AreCountedOfAWholeDefaultCampaignAlone) {
  Results results;
  results.triggers = records_without({});
  count_pairs(results);
  EXPECT_EQ(results.pairs.seen, 0u);
  EXPECT_EQ(pairs_sentence(results.pairs), "");
  results.triggers_required = true;
  count_pairs(results);
  EXPECT_GT(results.pairs.seen, 0u);
}

}  // namespace
}  // namespace tally::pairs_test
