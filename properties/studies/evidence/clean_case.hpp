// The clean cases of the campaign for the tolerances: case i is a function of (seed, i) alone, whoever runs it.
#pragma once

#include <cstdint>

#include "properties/studies/evidence/evidence_run.hpp"

namespace tally {

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

}  // namespace tally
