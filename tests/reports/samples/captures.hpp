// Judged captures made by hand, for the tests of their page and document.
#pragma once

#include <map>
#include <string>

#include "reports/record/capture_json.hpp"

namespace tally::samples {

CaptureRecord right_capture();    // two windows of three micro-batches
CaptureRecord wrong_capture();    // the same, one gradient wrong and all behind it, with a suspect and a gap
CaptureRecord partial_capture();  // the same, taps missing and vacuous ones
CaptureRecord hostile_capture();  // wrong_capture() with markup, quotes and control characters in every text
/// So many tensors in each of so many micro-batches, all of them wrong.
CaptureRecord large_capture(int tensors, int micro_batches);

/// By the name of the page that the tests make of them.
std::map<std::string, CaptureRecord> all_captures();

}  // namespace tally::samples
