// Choices with the defaults of their contract filled in, the values of an option that a campaign draws, and the seed of
// every run that names none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/case/contract.hpp"

namespace tally {

using Options = std::map<std::string, OptionValue>;

/// A choice of `section` and `kind`; options not given take the contract's default. Throws std::logic_error for an
/// unknown kind or option, or a required option left out.
Choice choice(std::string_view section, std::string_view kind, const Options& options = {});

Layer layer(std::string_view kind, std::string name = {}, const Options& options = {});

/// The shortest decimal that reads back as `value`.
Decimal decimal(double value);

// The seed of every run that names none: of campaigns, studies and the command line.

inline constexpr std::uint64_t default_seed = 20240917;

// Which values of an option a campaign draws, and demands: made from the option's contract alone, so that a new option
// is drawn as soon as it is there.

/// Three or more where there are as many: the default, the limits that are allowed (0 where it is legal) and values
/// between. A list takes none, and of words each and all; of numbers one, which stands for as many as are needed. A
/// text takes all its words. An integer of a layer takes no value: sizes are drawn with the model.
std::vector<OptionValue> values_worth_drawing(const Contract& contract, const Option& option);

/// How tables name a value: numbers that are equal alike, "none", "bias, norm", "one for each class".
std::string name_of_value(const OptionValue& value);

}  // namespace tally
