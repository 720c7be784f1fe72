// The 2-norm of some gradients of a window, for suspects that take it of the wrong ones.
#pragma once

#include <string>
#include <vector>

#include "properties/diagnosis/suspect.hpp"

namespace tally {

/// Over the taps `<stage>/<prefix><parameter>`; nullopt where one is missing.
std::optional<Values> norm_of(const Evidence& evidence, int window, const std::string& stage, const std::string& prefix,
                              const std::vector<std::string>& parameters);

/// Over the taps `norm/in.d.<parameter>`, of the kind that the case's clip asks for: 2, 1 or inf.
std::optional<Values> recipe_norm_of(const Evidence& evidence, int window, const std::vector<std::string>& parameters);

}  // namespace tally
