// What strata of every kind of case share: the checks of a held run, counted.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "properties/studies/evidence/evidence_run.hpp"
#include "properties/studies/evidence/strata.hpp"

namespace tally {

using ByPart = std::map<std::pair<std::string, std::string>, Stratum>;  // by lens and part

void count(Stratum& stratum, const TensorCheck& check, std::uint64_t number);

/// All checks and the r of every element.
ByPart counted(const Case& c, const EvidenceRun& held, std::uint64_t number);

/// {"alarm", among, lens, tap, token} for each failing check, {"refusal", among, number, reason, token} for a refused
/// case.
void count_alarms(Strata& strata, const std::string& among, const Case& c, const EvidenceRun& held,
                  std::uint64_t number);

/// Makes one case of every stratum.
void settle_cases(Strata& strata, const EvidenceRun& held);

}  // namespace tally
