// A study's plot as a drawing: a frame with two axes, series told apart by colour, marker and line, and a legend.
#pragma once

#include <string>

#include "reports/record/study.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// `id` must be unique in the page.
void study_figure(Markup& page, const std::string& id, const StudyPlot& plot);

}  // namespace tally
