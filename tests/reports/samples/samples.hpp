// Results made by hand, for the tests of what renders and gates them.
#pragma once

#include <map>
#include <string>

#include "reports/record/record.hpp"
#include "reports/record/study.hpp"

namespace tally::samples {

Results passing();  // three precisions, laws, faults, training
Results failing();  // passing(), with one failure of each kind
Results empty();    // nothing ran
Results partial();  // passing(), interrupted
Results hostile();  // failing(), with markup, quotes, control characters and broken UTF-8 in every text
Results large(int cases);

Study study();                 // every kind of plot and table
std::vector<Study> studies();  // a sweep, the rules and the tolerances, all the same
Study hostile_study();         // study(), interrupted, with markup and control characters in every text

/// By the name of the page that the tests make of them.
std::map<std::string, Results> all();

}  // namespace tally::samples
