// A failing capture in one sentence: what fails first, and what it looks like.
#pragma once

#include <string>

#include "properties/diagnosis/judged_capture.hpp"

namespace tally {

/// The stage's tensor, its element, the numbers and, where a suspect is known, what it looks like; empty where nothing
/// fails.
std::string sentence_of(const Case& c, const Trace& trace, const JudgedCapture& judged);

}  // namespace tally
