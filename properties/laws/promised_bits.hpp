// What a law says where kernels promise no bits.
#pragma once

#include <string>

#include "properties/compare/promised_bits.hpp"

namespace tally {

struct Outcome;  // properties/laws/law.hpp

/// Nothing of this stage's is promised: adds a check that is vacuous and names the kernels. `settled` makes the outcome
/// so, unless it fails.
void no_promise(Outcome& outcome, const PromisedBits& promised, const std::string& stage);

}  // namespace tally
