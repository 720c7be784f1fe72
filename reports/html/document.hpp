// What every page has: head, style and script, what of it is shown, anchors, code, formulas, and the elements of a
// failing tensor. Defined in document.cpp, style.cpp, elements.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

// What every page starts with: head, policy, style sheet; and the radio buttons of its bar.

/// The head of a page that asks for nothing; it runs only the script given, which its policy names by hash.
void page_head(Markup& page, const std::string& title, const std::string& script = "");

/// At the end of the body, the script that page_head() was told of.
void page_script(Markup& page, const std::string& script);

/// One choice, the first at the start; the style sheet acts on `<name>-<value>:checked`.
void radios(Markup& page, const char* legend, const char* name,
            const std::vector<std::pair<std::string, std::string>>& choices);

/// System, light or dark.
void theme_radios(Markup& page);

// What of a page is shown: radio buttons and the rules that hide the rest, which work without the script.

/// Whether there is a rule for a precision of this name: what carries it as data-p can be chosen.
bool can_be_chosen(const std::string& precision);

/// "Precision: all, fp32, ..." where the results have more than one that can be chosen.
void precision_radios(Markup& page, const Results& results);

/// Hides what carries another precision than the chosen one.
std::string precision_rules();

// Formulas as MathML, each with its text.

/// r = |got - v| / e.
void ratio_formula(Markup& page);
/// accumulated - full batch = rounding drift + semantic gap - rounding drift of the full batch.
void drift_formula(Markup& page);

// What pages of a campaign and of a recorded trace share.

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
