// Markdown, and failures as GitHub Actions shows them beside a commit. Defined in summary.cpp.
#pragma once

#include <string>
#include <string_view>

#include "reports/record/record.hpp"

namespace tally {

/// Text that Markdown shows as it is, on one line, safe in a table cell.
std::string markdown(std::string_view text);

/// A fenced block whose fence is longer than any run of backticks in it.
std::string code_block(std::string_view text);

/// "::error title=…::…", one line each, worst first: at most `most` lines, of which the last one then counts those left
/// out, because the rest would be dropped unseen. Empty where nothing failed.
std::string github_annotations(const Results& results, std::size_t most = 10);

}  // namespace tally
