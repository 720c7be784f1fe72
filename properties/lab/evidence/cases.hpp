// The clean cases and the ordinary networks of the campaign for the tolerances: each a function of (seed, i) alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "properties/lab/evidence/evidence_run.hpp"
#include "properties/lab/evidence/strata.hpp"

namespace tally {

// The clean cases of the campaign for the tolerances: case i is a function of (seed, i) alone, whoever runs it.

struct CleanCase {
  Case c;
  DrawnRun run;
};

/// The distribution that the evidence speaks of: fp32, fp16 and bf16 in turn; a plan of random_plan(), one in four with
/// micro-batches of 8 to 16 rows, one in eight each with a micro-batch that counts nothing, data over 15 octaves or
/// class weights, three in eight under another normalisation than window_items; every operation's kernel among its
/// shipped variants; orders of additions and of threads drawn in every second case each.
CleanCase clean_case(std::uint64_t seed, std::uint64_t number, const RunOptions& on);

/// What replays the case: its token, or its hash where the token is very long.
std::string replay_token(const Case& c);

/// The same plan without those additions: the base of hard cases. Drawn from `seed` alone.
Plan drawn_plan(Dtype storage, std::uint64_t seed);

// The ordinary networks of the campaign for the tolerances: network i is a function of (seed, i) alone.

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
