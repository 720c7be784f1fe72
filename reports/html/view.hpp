// What of a page is shown: radio buttons and the rules that hide the rest, which work without the script.
#pragma once

#include <string>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// Whether there is a rule for a precision of this name: what carries it as data-p can be chosen.
bool can_be_chosen(const std::string& precision);

/// "Precision: all, fp32, ..." where the results have more than one that can be chosen.
void precision_radios(Markup& page, const Results& results);

/// Hides what carries another precision than the chosen one.
std::string precision_rules();

}  // namespace tally
