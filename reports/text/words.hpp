// A status for people: a mark and a word, never a colour alone.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

const char* mark_of(Status status);        // ✓ ✗ ○ – ‼
const char* shown_word_of(Status status);  // pass, FAIL, VACUOUS, not run, ERROR
std::string mark_and_word(Status status);  // "✓ pass"
std::string class_of(Status status);       // CSS class and data-s: pass, fail, vacuous, not_run, error
std::string failure_word(FailureClass c);  // "non-finite"; empty for none

}  // namespace tally
