// Pairs of settings: which stood together in a campaign, and which rules keep apart.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// The pairs of a campaign's records, in the order of records_to_reach(). A pair that no run showed is tried in plans
/// of every sort, by rules alone; those that none of them takes are refused, the others unseen.
PairsRecord pairs_of(const std::vector<TriggerRecord>& triggers);

/// The unseen ones, by the places of their settings, the later one first.
std::vector<std::pair<std::size_t, std::size_t>> pairs_to_show(const std::vector<TriggerRecord>& triggers);

/// Whether the results are of a whole default campaign: of less, few pairs say nothing.
bool counts_pairs(const Results& results);

/// Sets them where they count.
void count_pairs(Results& results);

}  // namespace tally
