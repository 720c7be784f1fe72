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
Choice read_choice(ObjectReader& object, std::string_view section);

/// Kind, options, their types, ranges and words.
void check_choice(const Choice& choice, std::string_view section, const std::string& path, Findings& findings);

Json write_choice(const Choice& choice);

}  // namespace tally
