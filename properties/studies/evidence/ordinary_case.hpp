// The ordinary networks of the campaign for the tolerances: network i is a function of (seed, i) alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "properties/studies/evidence/evidence_run.hpp"
#include "properties/studies/evidence/strata.hpp"

namespace tally {

struct OrdinaryCase {
  Case c;
  std::string size;
  std::vector<std::pair<std::string, std::string>> traits;  // traits_of() its plan
};

/// fp32, fp16 and bf16 in turn; of 50 networks 31 small, 13 medium, 4 large ones and two of true
/// size; and of 400 one whose stages have 10^7 elements.
OrdinaryCase ordinary_case(std::uint64_t seed, std::uint64_t number);

/// Labels:
///   "ordinary", "all"                   every check of both lenses; `refused` counts
///   "ordinary", "size", size, precision
///   "ordinary", trait, value            one for each trait
///   "ordinary stage", size, part        local checks
///   "alarm", "ordinary networks", lens, tap, token
///   "refusal", "ordinary networks", number, reason, token
Strata ordinary_strata_of(const OrdinaryCase& made, const EvidenceRun& held, std::uint64_t number);

}  // namespace tally
