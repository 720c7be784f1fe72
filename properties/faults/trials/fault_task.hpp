// Seeded faults against the laws that should catch them.
#pragma once

#include <string>
#include <vector>

#include "properties/campaign/campaign.hpp"
#include "properties/faults/fault.hpp"

namespace tally {

/// Runs the fault's laws, best first, in every precision, until one fails; caught = a law failed, right_stage = its
/// first failing check stands in the fault's stage. Then, where all of the bug is planted and it has a knob, how little
/// of it a few such cases still show.
FaultRecord run_fault(const Fault& fault, const CampaignOptions& options);

/// All faults named (all of them for an empty list), in forked processes, sorted by name.
/// Throws std::invalid_argument for a name that does not exist.
std::vector<FaultRecord> run_faults(const std::vector<std::string>& names, const CampaignOptions& options);

}  // namespace tally
