// A strand: a part of the cases that a law draws in one precision, with a seed and breeding of its own, so that it can
// be run anywhere and at any time. How a job is cut follows from the numbers of cases alone, never from who runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "oracle/case/tensor.hpp"
#include "properties/campaign/corpus.hpp"

namespace tally {

struct CampaignOptions;
struct Law;
class PlanSource;

struct Strand {
  int number = 0;  // from 0; that one draws what the job would draw if it were whole
  int cases = 0;   // that it draws
  int first = 0;   // cases of the job that the strands before it draw
  friend bool operator==(const Strand&, const Strand&) = default;
};

/// Cases that a law's task draws: those of its strand, else all that the options ask for.
int cases_of(const Law& law, const CampaignOptions& options);

/// All strands of a law in one precision, by number: each draws as many cases as the law does at effort 1, 40 at least
/// and where the plans have numbers; the last one what is left. Those of `options.strand` are not looked at.
std::vector<Strand> strands_of(const Law& law, const CampaignOptions& options);

/// The plans that a task draws.
PlanSource plans_of(const Law& law, Dtype storage, const CampaignOptions& options);

/// The kept cases that a task replays: none of them in any strand but the first.
std::vector<KeptCase> replayed_by(const CampaignOptions& options);

}  // namespace tally
