// All that is said of a judged capture, gathered once for the terminal, the document and the page.
#pragma once

#include <string>
#include <vector>

#include "kernels/trace/places.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "reports/record/capture_json.hpp"

namespace tally::command_line {

/// By the checks; a pass of dead steps shows nothing.
int exit_code_of(const JudgedCapture& judged);

/// The exit code's verdict is taken from the checks. The gap to the full batch is evaluated, but for the local lens alone.
CaptureRecord capture_record(const Case& c, const Trace& trace, bool all_lenses, JudgedCapture judged,
                             std::vector<std::string> assumptions, const std::map<std::string, CodePlace>& places = {});

/// The same for a terminal, with the verdict at its end: of a failure what is wrong and what to change, where, and what
/// fails first. With `all_figures` hexadecimal numbers, what bounds are made of and every way that a tensor was judged.
std::string capture_text(const CaptureRecord& capture, bool all_figures);

}  // namespace tally::command_line
