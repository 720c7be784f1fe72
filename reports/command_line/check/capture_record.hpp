// All that is said of a judged capture, gathered once for the terminal, the document and the page.
#pragma once

#include <string>
#include <vector>

#include "properties/diagnosis/judged_capture.hpp"
#include "reports/record/capture_json.hpp"

namespace tally::command_line {

/// The exit code's verdict is taken from the checks. The gap to the full batch is evaluated, but for the local lens alone.
CaptureRecord capture_record(const Case& c, const Trace& trace, bool all_lenses, JudgedCapture judged,
                             std::vector<std::string> assumptions);

/// The same for a terminal; its last line is the verdict.
std::string capture_text(const CaptureRecord& capture);

}  // namespace tally::command_line
