#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/law_task.hpp"

namespace tally::strand_test {
namespace {

Outcome holds(const Case&, const RunOptions&) { return {}; }

Law easy_law(double weight = 1) {
  Law law;
  law.name = "easy";
  law.statement = "A law that always holds.";
  law.holds = holds;
  law.weight = weight;
  return law;
}

std::vector<std::uint64_t> seeds_drawn(const CampaignOptions& options) {
  PlanSource plans = plans_of(easy_law(), Dtype::fp32, options);
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < cases_of(easy_law(), options); ++i) seeds.push_back(plans.next().seed);
  return seeds;
}

TEST(Strands, OfAJobAtEffortOneAreOneWhateverItsWeight) {
  const CampaignOptions options;

  EXPECT_EQ(strands_of(easy_law(), options), (std::vector<Strand>{{0, 40, 0}}));
  EXPECT_EQ(strands_of(easy_law(0.5), options), (std::vector<Strand>{{0, 20, 0}}));
  EXPECT_EQ(strands_of(easy_law(2), options), (std::vector<Strand>{{0, 80, 0}}));
}

TEST(Strands, OfMoreCasesHoldFortyEachAndTheLastOneTheRest) {
  CampaignOptions options;
  options.cases = 90;

  EXPECT_EQ(strands_of(easy_law(), options), (std::vector<Strand>{{0, 40, 0}, {1, 40, 40}, {2, 10, 80}}));
}

TEST(Strands, FollowFromTheEffortAlone) {
  CampaignOptions options;
  options.effort = 4;
  const auto strands = strands_of(easy_law(), options);
  options.processes = 7;
  options.shard = {2, 3, "a few laws"};
  options.strand = Strand{1, 40, 40};

  EXPECT_EQ(strands.size(), 4u);
  EXPECT_EQ(strands_of(easy_law(), options), strands);
}

/// Their seeds follow on, so that a law which chooses by them meets all its choices; what they draw is another series.
TEST(Strands, DrawOtherPlansWithSeedsThatFollowOn) {
  CampaignOptions whole, first, second;
  whole.cases = 60;
  first.strand = Strand{0, 40, 0}, second.strand = Strand{1, 20, 40};

  auto seeds = seeds_drawn(first);
  const auto more = seeds_drawn(second);
  seeds.insert(seeds.end(), more.begin(), more.end());

  EXPECT_EQ(seeds, seeds_drawn(whole));
}

TEST(Strands, DrawTheNumbersThatAreAskedFor) {
  CampaignOptions options;
  for (std::uint64_t i = 0; i < 60; ++i) options.numbers.push_back(1000 - i);
  EXPECT_EQ(strands_of(easy_law(4), options), (std::vector<Strand>{{0, 40, 0}, {1, 20, 40}}));

  options.strand = Strand{1, 20, 40};
  EXPECT_EQ(seeds_drawn(options), std::vector<std::uint64_t>(options.numbers.begin() + 40, options.numbers.end()));
}

std::vector<std::string> tokens_of(const CampaignOptions& options) {
  std::vector<std::string> tokens;
  for (const CaseRecord& c : run_law_task(easy_law(), Dtype::fp32, options).cases) tokens.push_back(c.token);
  return tokens;
}

TEST(Strands, BeginWithTheOneThatDrawsWhatTheJobDraws) {
  CampaignOptions whole, strand, next;
  whole.cases = 5;
  strand.strand = Strand{0, 5, 0}, next.strand = Strand{1, 5, 5};

  EXPECT_EQ(tokens_of(strand), tokens_of(whole));
  const auto first = tokens_of(strand), second = tokens_of(next);
  EXPECT_EQ(second.size(), 5u);
  for (const std::string& token : second) EXPECT_EQ(std::ranges::count(first, token), 0) << token;
}

TEST(Strands, AreToldApartByTheirTitles) {
  CampaignOptions options;
  options.law_glob = "exact_lane", options.cases = 90, options.training = false;
  const CampaignWork work(options);
  std::set<std::string> titles;

  for (std::size_t i = 0; i < work.size(); ++i) titles.insert(work.title_of(i));

  EXPECT_EQ(titles, (std::set<std::string>{"exact_lane fp16, strand 1 of 2", "exact_lane fp16, strand 2 of 2",
                                           "exact_lane fp32, strand 1 of 2", "exact_lane fp32, strand 2 of 2"}));
}

/// Only one may, or a kept case would be counted as often as there are strands.
TEST(Strands, ReplayNoKeptCaseButInTheFirst) {
  CampaignOptions options;
  options.kept = std::vector<KeptCase>{{"easy", "easy@a.json"}};

  options.strand = Strand{0, 40, 0};
  EXPECT_EQ(replayed_by(options).size(), 1u);
  options.strand = Strand{1, 40, 40};
  EXPECT_TRUE(replayed_by(options).empty());
}

TEST(CampaignWork, IsPartialWhereAPieceWasNotRun) {
  CampaignOptions options;
  options.law_glob = "exact_lane", options.cases = 2, options.training = false;
  const CampaignWork work(options);
  std::vector<std::string> answers{work.run(0, 0), work.run(1, 1)};
  EXPECT_FALSE(work.results(answers).partial);

  answers[1].clear();

  EXPECT_TRUE(work.results(answers).partial);
}

}  // namespace
}  // namespace tally::strand_test
