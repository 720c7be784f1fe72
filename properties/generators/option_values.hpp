// Which values of an option a campaign draws, and demands: made from the option's contract alone, so that a new option
// is drawn as soon as it is there.
#pragma once

#include <string>
#include <vector>

#include "oracle/layers/contract.hpp"

namespace tally {

/// Three or more where there are as many: the default, the limits that are allowed (0 where it is legal) and values
/// between. A list takes none, and of words each and all; of numbers one, which stands for as many as are needed. A
/// text takes all its words. An integer of a layer takes no value: sizes are drawn with the model.
std::vector<OptionValue> values_worth_drawing(const Contract& contract, const Option& option);

/// How tables name a value: numbers that are equal alike, "none", "bias, norm", "one for each class".
std::string name_of_value(const OptionValue& value);

}  // namespace tally
