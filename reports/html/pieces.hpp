// What pages of a campaign and of a recorded trace share.
// Defined in anchor.cpp, code.cpp, element_figures.cpp, element_map.cpp, script.cpp, style.cpp.
#pragma once

#include <string>
#include <string_view>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// Where in a failing tensor the errors are, and how they go with the size of the elements.
void element_figures(Markup& page, const std::string& id, const TensorCheck& check);
/// The same of a matrix, by row and column.
void element_map(Markup& page, const std::string& id, const TensorCheck& check);
/// An id for links: the prefix and the text, every character that is no letter, digit or hyphen as '_'.
std::string anchor(std::string_view prefix, std::string_view text);
/// The id of a case, wherever it is listed: "c-21ab679519de", as in junit.xml and on the terminal.
std::string anchor_of(const CaseRecord& c);

/// A text whose `parts` between backticks are code.
void with_code(Markup& page, std::string_view text);

std::string style_sheet();
/// Sorts, filters and copies; everything else works without it.
std::string script();

}  // namespace tally
