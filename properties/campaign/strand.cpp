#include "properties/campaign/strand.hpp"

#include <algorithm>

#include "oracle/case/io.hpp"
#include "properties/campaign/campaign.hpp"
#include "properties/campaign/law_plan.hpp"
#include "properties/campaign/plan_source.hpp"

namespace tally {
namespace {

int cases_of_job(const Law& law, const CampaignOptions& options) {
  if (!options.numbers.empty()) return static_cast<int>(options.numbers.size());
  return options.cases ? *options.cases : cases_drawn(law, options.effort);
}

/// The first strand's is that of the whole job.
std::uint64_t seed_of_strand(std::uint64_t seed, int number) {
  if (number == 0) return seed;
  const std::string text = std::to_string(seed) + " strand " + std::to_string(number);
  return std::stoull(sha256(text).substr(0, 15), nullptr, 16);
}

}  // namespace

int cases_of(const Law& law, const CampaignOptions& options) {
  return options.strand ? options.strand->cases : cases_of_job(law, options);
}

std::vector<Strand> strands_of(const Law& law, const CampaignOptions& options) {
  const int all = cases_of_job(law, options),
            most = options.numbers.empty() ? std::max(cases_at_effort_one, cases_drawn(law, 1)) : cases_at_effort_one;
  std::vector<Strand> strands;
  for (int first = 0; first < all; first += most)
    strands.push_back({static_cast<int>(strands.size()), std::min(most, all - first), first});
  return strands;
}

PlanSource plans_of(const Law& law, Dtype storage, const CampaignOptions& options) {
  const Strand strand = options.strand.value_or(Strand{});
  const std::uint64_t seed = seed_of(options.seed, law, storage);
  PlanSource plans(storage, seed_of_strand(seed, strand.number), cases_of(law, options),
                   first_plan_seed(seed) + static_cast<std::uint64_t>(strand.first));
  if (!options.numbers.empty()) {
    const auto first = options.numbers.begin() + strand.first;
    plans.number({first, first + cases_of(law, options)});
  }
  return plans;
}

std::vector<KeptCase> replayed_by(const CampaignOptions& options) {
  if (options.strand && options.strand->number > 0) return {};
  return options.kept ? *options.kept : kept_cases(options.corpus);
}

}  // namespace tally
