// What `tally check --json` prints: a judged capture as one document.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// {"tally_check": 1, "verdict", "case", "lenses", "groups", "checks", "suspects", "notes"}, one final newline. A check
/// and a suspect have the keys that they have in results.json.
struct CaptureRecord {
  std::string verdict;  // "pass", "fail" or "not_judged"
  std::string case_hash, case_name, lenses;
  std::vector<std::string> groups;  // stages that were judged as one
  std::vector<TensorCheck> checks;
  std::vector<Suspicion> suspects;  // the likeliest first
  std::vector<std::string> notes;   // what was not looked for, and why
};
std::string to_json(const CaptureRecord& capture);

}  // namespace tally
