// Layers, losses and recipe sections read, checked and written by their contracts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oracle/case/findings.hpp"
#include "oracle/case/json.hpp"
#include "oracle/case/read_object.hpp"

namespace tally {

/// Reads `kind` and its options from an object, defaults filled in. Does not call finish(), so that the caller may
/// read more keys (a layer's name). The kind is empty when it is unknown: then nothing can be said about the keys.
/// The option `given_elsewhere` may be absent, though it has no default.
Choice read_choice(ObjectReader& object, std::string_view section, std::string_view given_elsewhere = {});

/// Kind, options, their types, ranges and words.
void check_choice(const Choice& choice, std::string_view section, const std::string& path, Findings& findings);

/// Options that are younger than the first version are left out where they are at their defaults, so that a case
/// written before they existed keeps its text.
Json write_choice(const Choice& choice, std::string_view section);

/// The version of a case file that has every option which is not at its default.
std::int64_t version_of(const Choice& choice, std::string_view section);

}  // namespace tally
