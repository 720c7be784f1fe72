// What `tally check` found, as plain data and as the document that --json prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// A judged capture. The keys of its document stand in capture.md; a check and a suspect have those of results.json.
struct CaptureRecord {
  std::string verdict;  // "pass", "fail" or "not_judged"
  std::string case_hash, case_name, case_title, lenses;
  std::vector<int> windows;              // micro-batches of each, the most of any rank
  std::vector<std::string> stages;       // of the checks, in running order
  std::vector<std::string> groups;       // stages that were judged as one
  std::vector<TensorCheck> checks;       // in the order of their taps
  std::vector<Suspicion> suspects;       // the likeliest first
  std::string sentence;                  // of a failure: what fails first, with its numbers, and what it looks like
  std::string first_tap, first_stage;    // of a failure
  std::vector<RankRow> ranks;            // of several that train together; neighbours that are alike in one row
  std::vector<std::string> not_judged;   // what, and why
  std::vector<std::string> assumptions;  // the recorder's
  std::vector<std::string> claims;       // how the subject says that it computes, in short
  std::optional<double> semantic_gap;    // of the first window's gradient; nothing: not known
  std::string gap_sentence;              // what makes it, or why it is not known; empty where there is none
  std::optional<double> rounding_drift, drift_bound;  // of the same, as in results.json
};

/// One final newline.
std::string to_json(const CaptureRecord& capture);

}  // namespace tally
