// A false refusal: a verdict that nothing was shown, of a run that has something to show.
#pragma once

#include <string>

#include "properties/laws/law.hpp"

namespace tally {

/// Why the settled outcome is vacuous, where a window's gradient is not zero (a micro-batch's where none is tapped);
/// empty where it is another status, or where every gradient is exactly zero: dead runs agree whatever they compute.
std::string refusal_of(const Outcome& settled, const Trace& trace);

}  // namespace tally
