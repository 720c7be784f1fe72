// The sections of report.html, one file each. A section with nothing to say writes nothing.
#pragma once

#include <string>

#include "reports/record/record.hpp"
#include "reports/text/markup.hpp"

namespace tally {

inline constexpr std::size_t listed_cases = 50;  // more would bury the worst ones; results.json has all

void header_section(Markup& page, const Results& results);
void overview_section(Markup& page, const Results& results);
void failures_section(Markup& page, const Results& results);
void worst_cases_section(Markup& page, const Results& results);
void laws_section(Markup& page, const Results& results);
void teeth_section(Markup& page, const Results& results);
void training_section(Markup& page, const Results& results);
void environment_section(Markup& page, const Results& results);
void reading_section(Markup& page, const Results& results);

/// The figures of the overview.
void ratio_figure(Markup& page, const Results& results);
void drift_figure(Markup& page, const Results& results);

/// Whether the section would write anything.
bool has_failures(const Results& results);

/// An id for links: the prefix and the text, every character that is no letter, digit or hyphen as '_'.
std::string anchor(std::string_view prefix, std::string_view text);
/// Where a listed case is described: its failure, or its row among the worst cases.
std::string anchor_of(const CaseRecord& c);
/// anchor_of() with '#' in front if the case is listed, else empty.
std::string link_to(const Results& results, const CaseRecord& c);

std::string style_sheet();

}  // namespace tally
