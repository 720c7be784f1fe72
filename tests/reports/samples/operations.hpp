// Judged recordings of operations made by hand, for the tests of their page, text and document.
#pragma once

#include <map>
#include <string>

#include "reports/record/operations.hpp"

namespace tally::samples {

/// An operation that left a wrong element, with its line.
JudgedOperation wrong_product();
/// An operation whose errors are too large only all together.
JudgedOperation imprecise_product();

JudgedRecording right_operations();    // with a custom operation that is not judged
JudgedRecording wrong_operations();    // both of them, and one that made infinities
JudgedRecording hostile_operations();  // wrong_operations() with markup and control characters in every text
JudgedRecording many_operations();     // with many modules and failures

/// By the name of the page that the tests make of them.
std::map<std::string, JudgedRecording> all_operations();

}  // namespace tally::samples
