// Verdicts on varied loops made by hand, for the tests of their page and document.
#pragma once

#include <map>
#include <string>

#include "reports/record/vary.hpp"

namespace tally::samples {

VaryReport right_loop();    // of which a partition met a decision, and one could not be judged
VaryReport wrong_loop();    // a mean of means
VaryReport hostile_loop();  // wrong_loop() with markup, quotes and control characters in every text
/// With so many tensors, and single rows as micro-batches.
VaryReport large_loop(int tensors);

/// By the name of the page that the tests make of them.
std::map<std::string, VaryReport> all_loops();

}  // namespace tally::samples
