// operations.html: a judged recording of operations as one file. Defined in operations_page.cpp, page_tables.cpp.
#pragma once

#include <string>

#include "reports/record/operations.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// `folder` is the recording's, `script` the file that repeats the first failure, empty where there is none.
std::string operations_html(const JudgedRecording& judged, const std::string& folder, const std::string& script = "");

/// What was judged, by operation, module and phase.
void operations_tables(Markup& page, const JudgedRecording& judged);
/// What is not judged, what could not be seen, and what all was held to.
void operations_limits(Markup& page, const JudgedRecording& judged);

}  // namespace tally
