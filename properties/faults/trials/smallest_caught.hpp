// How little of a seeded fault is still caught.
#pragma once

#include <vector>

#include "properties/campaign/campaign.hpp"

namespace tally {

/// Cases of this precision that break the law under the options' subject: the first that each of `draws` campaigns
/// draws, the options' own and those of the seeds after it; where a campaign finds none, there is one less.
std::vector<Case> failing_cases(const Law& law, Dtype storage, const CampaignOptions& options, int draws);

/// The smallest magnitude 2^-e, e from 0 to 64, at which one of the cases, which all break the law at 1, still does
/// under the faulty subject: e grows by fours until nothing is found, and the last four are bisected.
double smallest_caught(const Law& law, const std::vector<Case>& failing, const RunOptions& faulty);

}  // namespace tally
