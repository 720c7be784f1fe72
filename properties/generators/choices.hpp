// Choices with the defaults of their contract filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "oracle/case/case.hpp"

namespace tally {

using Options = std::map<std::string, OptionValue>;

/// A choice of `section` and `kind`; options not given take the contract's default. Throws std::logic_error for an
/// unknown kind or option, or a required option left out.
Choice choice(std::string_view section, std::string_view kind, const Options& options = {});

Layer layer(std::string_view kind, std::string name = {}, const Options& options = {});

/// The shortest decimal that reads back as `value`.
Decimal decimal(double value);

}  // namespace tally
