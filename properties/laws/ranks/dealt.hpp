// Plans whose micro-batches several ranks share.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Two to seven ranks, or as many as a power of two; each algorithm, layout of buckets and arrival in turn.
void dealt_to_ranks(Plan& plan);
/// The same, by each normalisation that ranks may have.
void dealt_to_ranks_by_any_normalisation(Plan& plan);
/// The case with one rank that has all micro-batches.
Case on_one_rank(Case c);
/// Not run, with the reason, where a case that was not drawn for the law has no ranks.
bool has_ranks(const Case& c);
inline constexpr const char* needs_ranks = "a case whose micro-batches are dealt to ranks";

}  // namespace tally
