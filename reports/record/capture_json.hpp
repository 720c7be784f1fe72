// What `tally check` found, as plain data and as the document that --json prints.
// Defined in documents.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// A judged capture. The keys of its document stand in capture.md; a check and a suspect have those of results.json.
struct CaptureRecord {
  std::string verdict;  // "pass", "fail", "vacuous" or "not_judged"
  std::string case_hash, case_name, case_title, lenses;
  std::vector<int> windows;              // micro-batches of each, the most of any rank
  std::vector<std::string> stages;       // of the checks, in running order
  std::vector<std::string> groups;       // stages that were judged as one
  std::vector<TensorCheck> checks;       // in the order of their taps
  std::vector<Suspicion> suspects;       // the likeliest first
  std::string cause;                     // of a failure: what is wrong
  std::vector<std::string> remedies;     // what to change, of each suspect
  std::string place, place_text;         // of a failure: "train.py:14" and that line, where the recorder saw the call
  std::string sentence;                  // of a failure: what fails first, with its numbers, and what it looks like
  std::string first_tap, first_stage;    // of a failure
  std::vector<RankRow> ranks;            // of several that train together; neighbours that are alike in one row
  std::vector<std::string> not_judged;   // what, and why
  std::vector<std::string> assumptions;  // the recorder's
  std::vector<std::string> claims;       // how the subject says that it computes, in short
  std::optional<double> semantic_gap;    // of the first window's gradient; nothing: not known
  std::string gap_sentence;              // what makes it, or why it is not known; empty where there is none
  std::string recipe;                    // that was stated, as far as it divides: "normalisation window_items"
  std::optional<double> own_gap;         // of a failure: of the loop's own gradient against that of the stated recipe
  int own_gap_window = 0;                // in the window that fails first
  std::optional<double> rounding_drift, drift_bound;  // of the same, as in results.json
};

/// What to change for the likeliest suspect; empty where none is known.
std::string first_remedy_of(const CaptureRecord& capture);
/// How far the loop's own gradient is from that of the recipe that was stated, without a full stop; of a failure.
std::string own_gap_of(const CaptureRecord& capture);

/// One final newline.
std::string to_json(const CaptureRecord& capture);

}  // namespace tally
