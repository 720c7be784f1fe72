#include "reports/merge/merge.hpp"

#include <algorithm>

#include "reports/record/packed.hpp"
#include "reports/record/record.hpp"

namespace tally {
namespace {

void require_same(const std::string& what, const std::string& first, const std::string& other,
                  const std::string& shard) {
  if (first == other) return;
  throw MixedShards("the shards are of different campaigns: shard " + shard.substr(0, shard.find(' ')) + " has " +
                    what + " '" + other + "', the first one '" + first + "'");
}

/// What every shard of one campaign says alike, as JSON.
std::string frame_of(const Results& results) {
  Results frame;
  frame.laws = results.laws;
  for (LawRecord& law : frame.laws) {
    law = {law.name, law.family, law.statement, law.faults, law.control, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  }
  frame.triggers = results.triggers;
  for (TriggerRecord& trigger : frame.triggers) trigger.seen = 0, trigger.pairs.clear();
  frame.triggers_required = results.triggers_required;
  frame.effort = results.effort;
  frame.campaign = results.campaign;
  frame.environment = results.environment;
  frame.device_message = results.device_message;
  return to_json(frame);
}

void require_one_campaign(const std::vector<Results>& shards) {
  const Results& first = shards.front();
  const ShardName name = shard_name_of(first.shard);
  for (const Results& r : shards) {
    const ShardName other = shard_name_of(r.shard);
    require_same("seed", std::to_string(first.seed), std::to_string(r.seed), r.shard);
    require_same("version", first.environment.tally_version, r.environment.tally_version, r.shard);
    require_same("number of shards", std::to_string(name.count), std::to_string(other.count), r.shard);
    require_same("selection", name.selection, other.selection, r.shard);
    if (frame_of(first) != frame_of(r))
      throw MixedShards("the shards are of different campaigns: shard " + r.shard.substr(0, r.shard.find(' ')) +
                        " has other laws, triggers or another environment than the first one");
  }
}

/// "3" or "2, 3": the shards of `count` that are not there. Throws MixedShards where one is there twice.
std::string missing(const std::vector<Results>& shards) {
  std::string text;
  const int count = shard_name_of(shards.front().shard).count;
  for (int i = 1; i <= count; ++i) {
    const auto there = std::count_if(shards.begin(), shards.end(),
                                     [&](const Results& r) { return shard_name_of(r.shard).index == i; });
    if (there > 1) throw MixedShards("shard " + std::to_string(i) + " of " + std::to_string(count) + " is given twice");
    if (there == 0) text += (text.empty() ? "" : ", ") + std::to_string(i);
  }
  return text;
}

void sort_trainings(Results& whole, const std::vector<std::pair<std::string, std::string>>& order) {
  const auto rank = [&](const TrainingRecord& t) {
    return std::find(order.begin(), order.end(), std::pair{t.dataset, t.model}) - order.begin();
  };
  std::stable_sort(whole.training.begin(), whole.training.end(),
                   [&](const TrainingRecord& a, const TrainingRecord& b) { return rank(a) < rank(b); });
}

}  // namespace

Results merged(std::vector<Results> shards, const std::vector<std::pair<std::string, std::string>>& trainings) {
  for (const Results& r : shards) {
    if (r.shard.empty()) throw MixedShards("results of a whole campaign, not of a shard, are among them");
  }
  if (shards.empty()) throw MixedShards("no shard was given");
  require_one_campaign(shards);
  const std::string absent = missing(shards);
  Results whole = std::move(shards.front());
  for (std::size_t i = 1; i < shards.size(); ++i) {
    const std::string shard = shards[i].shard;
    add_part(whole, std::move(shards[i]));
    if (whole.partial && whole.partial_reason.empty()) whole.partial_reason = "shard " + shard + " was not finished";
  }
  sort_trainings(whole, trainings);
  if (!absent.empty()) {
    whole.partial = true;
    whole.partial_reason =
        "shard " + absent + " of " + std::to_string(shard_name_of(whole.shard).count) + " is missing";
  }
  settle_laws(whole);
  whole.shard.clear();
  return whole;
}

}  // namespace tally
