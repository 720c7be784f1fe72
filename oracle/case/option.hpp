// One option of a contract: read, checked, written.
// Defined in option.cpp, option_check.cpp.
#pragma once

#include <optional>
#include <string>

#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {

/// The value as the option's type; nullopt with a finding when it is of another type. The words of a text option that
/// are numbers stand in JSON as numbers, the others as strings.
std::optional<OptionValue> read_option(const Option& option, const Json& json, const std::string& path,
                                       Findings& findings);

/// Type, range and words of a value. A wrong type, or an integer out of range, is broken: sizes hang on it.
void check_option(const Option& option, const OptionValue& value, const std::string& path, Findings& findings);

Json write_option(const OptionValue& value);

/// Whether a text can be a parameter's full name, "fc1.weight"; that the model has it is asked of the whole case.
bool names_parameter(const std::string& text);

/// "a number > 0 and < 1".
std::string allowed(const Option& option);

}  // namespace tally
