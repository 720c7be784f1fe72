// A study's plot as a drawing: a frame with two axes, series told apart by colour, marker and line, and a legend.
#pragma once

#include <string>
#include <vector>

#include "reports/html/frame.hpp"
#include "reports/text/markup.hpp"

namespace tally {

/// `id` must be unique in the page. Under the drawing stands a folded table of its points; of long series some.
void study_figure(Markup& page, const std::string& id, const StudyPlot& plot);
/// The same with the looks given, one a series, and a sentence under the title.
void study_figure(Markup& page, const std::string& id, const StudyPlot& plot, const std::vector<Look>& looks,
                  const std::string& sentence);

}  // namespace tally
