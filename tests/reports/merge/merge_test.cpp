#include "reports/merge/merge.hpp"

#include <gtest/gtest.h>

#include "reports/record/record.hpp"
#include "reports/report.hpp"
#include "tests/reports/samples/samples.hpp"

namespace tally::merge_test {
namespace {

const std::vector<std::pair<std::string, std::string>> trainings = {{"digits", "mlp"},
                                                                    {"digits", "mlp with batch norm"}};

Results whole_campaign() {
  Results results = samples::passing();
  results.triggers_required = true;
  settle_laws(results);
  return results;
}

/// What shard i of `count` would have found: every count-th law and precision, the trainings of one model each.
std::vector<Results> shards_of(const Results& whole, int count) {
  std::vector<Results> shards;
  for (int i = 1; i <= count; ++i) {
    Results shard = whole;
    shard.shard = text_of({i, count, "all laws"});
    shard.ran_on_host = i == 1 ? whole.ran_on_host : 0;
    std::size_t group = 0;
    const CaseRecord* last = nullptr;
    std::vector<CaseRecord> mine;
    for (const CaseRecord& c : whole.cases) {
      if (last && (last->law != c.law || last->precision != c.precision)) ++group;
      last = &c;
      if (group % static_cast<std::size_t>(count) == static_cast<std::size_t>(i - 1)) mine.push_back(c);
    }
    shard.cases = mine;
    std::erase_if(shard.training, [&](const TrainingRecord& t) { return (t.model == "mlp") != (i == count); });
    if (i > 2) shard.training.clear();
    for (TriggerRecord& trigger : shard.triggers) trigger.seen = i == 2 ? trigger.seen : 0;
    for (LawRecord& law : shard.laws) law.control_differs = law.control_differs && i == 2;
    if (i != 2) shard.certified = {};
    settle_laws(shard);
    shards.push_back(std::move(shard));
  }
  return shards;
}

TEST(Merge, OfAllShardsGivesTheBytesOfTheWholeCampaign) {
  const Results whole = whole_campaign();
  std::vector<Results> shards = shards_of(whole, 2);
  EXPECT_EQ(to_json(merged(shards, trainings)), to_json(whole));

  std::swap(shards.front(), shards.back());
  EXPECT_EQ(to_json(merged(shards, trainings)), to_json(whole)) << "the order of the shards changed the result";
}

TEST(Merge, WithoutAShardIsIncompleteAndNeverGreen) {
  std::vector<Results> shards = shards_of(whole_campaign(), 3);
  shards.erase(shards.begin() + 1);

  const Results result = merged(shards, trainings);

  EXPECT_TRUE(verdict_sentence(result).starts_with("INCOMPLETE")) << verdict_sentence(result);
  EXPECT_NE(verdict_sentence(result).find("shard 2 of 3 is missing"), std::string::npos) << verdict_sentence(result);
  EXPECT_EQ(exit_code_of(result), 4);
}

TEST(Merge, WithoutAShardStillFailsWhereALawBroke) {
  std::vector<Results> shards = shards_of(whole_campaign(), 3);
  shards.pop_back();
  shards.front().cases.front().status = Status::fail;

  EXPECT_EQ(exit_code_of(merged(shards, trainings)), 1);
}

std::string refusal(const std::vector<Results>& shards) {
  try {
    merged(shards, trainings);
  } catch (const MixedShards& problem) {
    return problem.what();
  }
  return "";
}

TEST(Merge, RefusesPartsOfDifferentCampaigns) {
  const auto with = [](const std::function<void(Results&)>& change) {
    std::vector<Results> shards = shards_of(whole_campaign(), 2);
    change(shards.back());
    return refusal(shards);
  };

  EXPECT_NE(with([](Results& r) { r.seed += 1; }).find("seed '2'"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.environment.tally_version = "9"; }).find("version '9'"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.shard = "2/3 of all laws"; }).find("number of shards '3'"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.shard = "2/2 of one law"; }).find("selection 'one law'"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.shard = "2/2 of all laws, built from abc"; }).find("built from abc"),
            std::string::npos);
  EXPECT_NE(with([](Results& r) { r.laws.pop_back(); }).find("other laws"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.triggers.pop_back(); }).find("triggers"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.effort = 2; }), "");
  EXPECT_NE(with([](Results& r) { r.shard = "1/2 of all laws"; }).find("twice"), std::string::npos);
  EXPECT_NE(with([](Results& r) { r.shard.clear(); }).find("not of a shard"), std::string::npos);
  EXPECT_EQ(with([](Results&) {}), "");
}

TEST(ShardName, ReadsBackAndRefusesWhatIsNone) {
  const ShardName name{2, 4, "laws *, fp32"};
  EXPECT_EQ(shard_name_of(text_of(name)), name);
  EXPECT_EQ(shard_name_of("2/4"), (ShardName{2, 4, ""}));
  for (const char* text : {"", "2", "0/4", "5/4", "-1/4", "2/4x", "a/b", "2/0", "1/1000000"})
    EXPECT_THROW(shard_name_of(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace tally::merge_test
