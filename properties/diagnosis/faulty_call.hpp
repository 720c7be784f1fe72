// Which call of the user's program a failure belongs to.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kernels/trace/places.hpp"
#include "properties/diagnosis/judged_capture.hpp"

namespace tally {

/// The place of the call that the likeliest cause enters by, else of that which the failing stage is a part of; nothing
/// where nothing fails or no such place is known.
std::optional<CodePlace> faulty_call(const JudgedCapture& judged, const std::map<std::string, CodePlace>& places);

}  // namespace tally
