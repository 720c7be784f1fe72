#pragma once

#include <string>
#include <string_view>

namespace tally {

/// Text that Markdown shows as it is, on one line, safe in a table cell.
std::string markdown(std::string_view text);

/// A fenced block whose fence is longer than any run of backticks in it.
std::string code_block(std::string_view text);

}  // namespace tally
