// A planned case without its tensors, so that a rule may be asked before they are drawn.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

Case case_frame(const Plan& plan);

}  // namespace tally
