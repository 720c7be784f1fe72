// Forms of models and runs that no setting says, each of which some branch of the training step is for.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

/// Changes a plan of any sort; what does not go with it the rules say.
using UnusualForm = void (*)(Plan& plan, executor::Schedule& random);

/// All of them.
const std::vector<UnusualForm>& unusual_forms();

}  // namespace tally
