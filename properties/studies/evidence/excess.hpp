// How much of their bounds the tensors of right kernels use beyond the last rounding (TensorCheck::excess).
#pragma once

#include "oracle/case/case.hpp"
#include "properties/studies/evidence/evidence_run.hpp"
#include "properties/studies/evidence/strata.hpp"
#include "reports/record/study.hpp"

namespace tally {

/// Tensors that an operation writes and that pass the local lens, those of excess 0 too, under the labels
/// "excess", operation or "all", the formats that the operation stores.
void count_excess(Strata& strata, const Case& c, const EvidenceRun& held);

/// A row for each operation, or for one alone, and formats: how many tensors, and the quantiles of their excess.
StudyTable excess_of(const Strata& strata, const std::string& only = "");

}  // namespace tally
