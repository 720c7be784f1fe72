#include "properties/campaign/campaign.hpp"

#include <iterator>
#include <utility>

#include "properties/campaign/campaign_work.hpp"
#include "properties/campaign/workers.hpp"
#include "properties/laws/settings/together.hpp"
#include "properties/triggers/pairs.hpp"
#include "reports/record/totals.hpp"

namespace tally {
namespace {

constexpr std::uint64_t most_rounds = 4;

Results run_work(const CampaignOptions& options) {
  const CampaignWork work(options);
  std::size_t finished = 0;
  return work.results(run_in_processes(
      work.size(), processes_for(options.subject.executor, options.processes),
      [&](std::size_t i) { return work.run(i, i); },
      [&](std::size_t i) {
        options.progress("[" + std::to_string(++finished) + "/" + std::to_string(work.size()) + "] " +
                         work.title_of(i));
      },
      options.interrupted, [&](std::size_t i, const Death& died) { return work.run(i, i, &died); }));
}

/// What a further part of the same campaign, of fewer laws, came to.
void add_part(Results& whole, Results part) {
  std::ranges::move(part.cases, std::back_inserter(whole.cases));
  merge_triggers(whole.triggers, part.triggers);
  add(whole.certified, part.certified);
  whole.partial = part.partial, whole.partial_reason = part.partial_reason;
  whole.ran_on_host += part.ran_on_host, whole.ran_on_device += part.ran_on_device;
}

/// One case for each, in every round another, in one precision after the other.
void show_missing_pairs(Results& results, CampaignOptions options) {
  const auto precisions = options.precisions;
  options.law_glob = "settings_stand_together";
  options.training = false;
  options.kept.emplace();
  for (std::uint64_t round = 0; round < most_rounds && !results.partial; ++round) {
    options.numbers.clear();
    for (const auto& [a, b] : pairs_to_show(results.triggers)) options.numbers.push_back(number_of_pair(a, b, round));
    if (options.numbers.empty()) break;
    options.precisions = {precisions[round % precisions.size()]};
    add_part(results, run_work(options));
  }
  settle_laws(results);
}

}  // namespace

Results run_campaign(const CampaignOptions& given) {
  CampaignOptions options = given;
  if (!options.kept) options.kept = kept_cases(options.corpus);
  Results results = run_work(options);
  if (counts_pairs(results)) show_missing_pairs(results, options);
  return results;
}

}  // namespace tally
