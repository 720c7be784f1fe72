// A failing capture in sentences: what is wrong, what to change, and what fails first.
#pragma once

#include <string>
#include <vector>

#include "properties/diagnosis/judged_capture.hpp"

namespace tally {

/// What the likeliest cause does; where none is known, that and the stage that fails first. Empty where nothing fails.
std::string cause_of(const JudgedCapture& judged);

/// The first tensor that fails, what it is, its worst element's numbers and, where a suspect is known, what it looks like;
/// empty where nothing fails.
std::string sentence_of(const Case& c, const Trace& trace, const JudgedCapture& judged);

/// What to change, of every suspect in their order, with the numbers of where the capture fails.
std::vector<std::string> remedies_of(const Case& c, const JudgedCapture& judged);

}  // namespace tally
