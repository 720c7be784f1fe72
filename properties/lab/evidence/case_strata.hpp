// The checks of a held run, counted into strata, and how much of their bounds right kernels use.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "oracle/case/case.hpp"
#include "properties/lab/evidence/evidence_run.hpp"
#include "properties/lab/evidence/strata.hpp"
#include "reports/record/study.hpp"

namespace tally {

// What strata of every kind of case share: the checks of a held run, counted.

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

// How much of their bounds the tensors of right kernels use beyond the last rounding (TensorCheck::excess).

/// Tensors that an operation writes and that pass the local lens, those of excess 0 too, under the labels
/// "excess", operation or "all", the formats that the operation stores.
void count_excess(Strata& strata, const Case& c, const EvidenceRun& held);

/// A row for each operation, or for one alone, and formats: how many tensors, and the quantiles of their excess.
StudyTable excess_of(const Strata& strata, const std::string& only = "");

// One case's checks, counted into strata.

/// Labels:
///   "all"                                         every check
///   "precision", lens, precision                  lens: "local", "end_to_end", "machine" (rules a kernel broke)
///   "stage", lens, precision, part
///   "depth", lens, precision, linear layers
///   "order", order of additions, order of threads
///   "variant", operation, variant                 local checks of the part that the kernel makes
///   "excess", operation or "all", formats         as in case_strata.hpp
///   "gradient", precision, linear layers, items   end to end, the first window's; "8 or more" items in every
///                                                 micro-batch, or "fewer"
///   "alarm", "clean cases", lens, tap, token      each failing check, with the case to replay
///   "refusal", "clean cases", number, reason, token   a vacuous verdict on a case that has a gradient
Strata strata_of(const Case& c, const DrawnRun& run, const EvidenceRun& held, std::uint64_t number);

/// A hard case: "hard", family, lens, precision; and "alarm", family, lens, tap, token.
Strata hard_strata_of(const std::string& family, const Case& c, const EvidenceRun& held, std::uint64_t number);

}  // namespace tally
