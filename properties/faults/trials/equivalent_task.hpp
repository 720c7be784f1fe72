// Equivalent mutants through the laws that must let them pass.
#pragma once

#include <string>
#include <vector>

#include "properties/campaign/campaign.hpp"

namespace tally {

struct EquivalentAnswer {
  std::string name, change, why;
  bool passes = false;      // no case failed, and one at least passed
  std::uint64_t cases = 0;  // that passed
  std::string message;      // the law that flagged it, and what it said
};

/// All of them, in forked processes, sorted by name.
std::vector<EquivalentAnswer> run_equivalents(const CampaignOptions& options);

/// "Equivalent mutants" and a line each, for people.
std::string text_of(const std::vector<EquivalentAnswer>& answers);

}  // namespace tally
