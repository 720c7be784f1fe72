// The tensors that optimizers keep from step to step, by the contracts of the optimizers (oracle/recipe).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {

/// Those of this optimizer with these options, in the order of its contract.
std::vector<const StateTensor*> state_of(const Choice& optimizer);

/// Whether a step of this optimizer depends on how many were taken before it.
bool counts_steps(const Choice& optimizer);

/// Those of every optimizer, by name.
const std::set<std::string>& state_names();

/// "fc1.weight" of "exp_avg.fc1.weight"; empty for a name that is no optimizer's state.
std::string_view parameter_of_state(std::string_view tensor);

}  // namespace tally
