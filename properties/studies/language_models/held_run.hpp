// One case run in one way, its shown tensors counted element by element against their bounds.
#pragma once

#include "properties/studies/evidence/strata.hpp"
#include "properties/studies/language_models/family.hpp"
#include "properties/studies/study.hpp"

namespace tally {

/// Labels, each of the first three as count_elements() counts:
///   "clean", tensor, variant, precision, part           under the kernel's own claim
///   "unclaimed", tensor, precision, part                the same runs, of whose kernels nothing is claimed
///   "other", tensor, variant or fault, claimed, precision, part
///   "alarm", family, tap, what replays the case          a check of these that fails, shown or not
/// A stratum is of one case, `alarmed` where an element lies outside.
Strata held_run(const LayerFamily& family, const Way& way, Dtype storage, std::uint64_t number,
                const StudyOptions& options);

}  // namespace tally
