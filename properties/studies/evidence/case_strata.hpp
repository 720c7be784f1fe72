// One case's checks, counted into strata.
#pragma once

#include "properties/studies/evidence/evidence_run.hpp"
#include "properties/studies/evidence/strata.hpp"

namespace tally {

/// Labels:
///   "all"                                         every check
///   "precision", lens, precision                  lens: "local", "end_to_end", "machine" (rules a kernel broke)
///   "stage", lens, precision, part
///   "depth", lens, precision, linear layers
///   "order", order of additions, order of threads
///   "variant", operation, variant                 local checks of the part that the kernel makes
///   "excess", operation or "all", formats         as in excess.hpp
///   "gradient", precision, linear layers, items   end to end, the first window's; "8 or more" items in every
///                                                 micro-batch, or "fewer"
///   "alarm", "clean cases", lens, tap, token      each failing check, with the case to replay
///   "refusal", "clean cases", number, reason, token   a vacuous verdict on a case that has a gradient
Strata strata_of(const Case& c, const DrawnRun& run, const EvidenceRun& held, std::uint64_t number);

/// A hard case: "hard", family, lens, precision; and "alarm", family, lens, tap, token.
Strata hard_strata_of(const std::string& family, const Case& c, const EvidenceRun& held, std::uint64_t number);

}  // namespace tally
