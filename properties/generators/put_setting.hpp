// Puts a setting into a plan, with what it needs beside it, where the rules allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

/// A list of numbers as long as there are outputs: the first one and 1 by turns. Any other value, and none, as it is.
OptionValue as_long_as(OptionValue value, std::int64_t outputs);

/// The rule that the plan's case would break, but for those of tensors, which are not drawn yet; nullopt: none.
std::optional<std::string> broken_rule(const Plan& plan);

/// The rule that the plan's case breaks once its ranks say what these settings do, as the plan itself would not.
std::string rule_against(const Plan& plan, const std::vector<std::size_t>& wanted);

/// Makes the plan's case say it, where it does not, and still say those `beside` it; what a place is drawn for follows
/// from the seed. nullopt where it does now; else the plan is as before, and the rule says why.
std::optional<std::string> put(Plan& plan, std::size_t setting, std::uint64_t seed,
                               std::vector<std::size_t> beside = {});

}  // namespace tally
