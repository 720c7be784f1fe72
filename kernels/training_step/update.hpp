// What a window's step is made with: the norm that a clip asks for, the constants of its decay.
#pragma once

#include <string>

#include "kernels/training_step/run/run_state.hpp"
#include "kernels/window/arguments.hpp"
#include "oracle/case/case.hpp"

namespace tally {

// The constants of a window's decay, derived in binary64 and rounded once. Tensors and sizes are
// left empty.

DecayArguments decay_constants(const Run& run);

// The norm that a clip by norm asks for.

inline NormKind norm_kind_of(const Choice& clip) {
  const std::string& norm = clip.text("norm");
  return norm == "1" ? NormKind::one : norm == "inf" ? NormKind::infinity : NormKind::two;
}

/// The norm that a rank takes of what it has; of its own pieces, what it hands to the others, by
/// `execution.ranks.reduce.norm`.
NormKind norm_kind_of(const Run& run);

}  // namespace tally
