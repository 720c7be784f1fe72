// A recorded trace of a case, judged: what `tally check` says of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "properties/compare/whole_model.hpp"
#include "reports/record/record.hpp"

namespace tally {

struct JudgedCapture {
  std::vector<TensorCheck> checks;
  std::vector<std::string> groups;  // stages that were judged as one
  std::vector<Suspicion> suspects;  // the restatements that pass, then what explains the first failure
  std::vector<std::string> notes;   // what was not looked for, and why
  std::string dead = {};            // why checks that pass show nothing (steps_shown.hpp); empty where they do
};

/// How a capture is judged.
struct CaptureOptions {
  /// Else the local lens alone, which holds some multiples of the largest tensor. Stages between which taps are missing are
  /// not judged then, but in groups that the trace declares, from the case on; no suspects are asked, who hold the
  /// tensors of whole stages.
  bool all_lenses = true;
  /// Where set: is told by the local lens how many bytes of the trace it went through, and of which tap last.
  std::function<void(std::size_t bytes, const std::string& tap)> progress = {};
  /// Names of causes that the recorder saw at work: of those that explain the failure they stand first.
  std::vector<std::string> seen = {};
  /// What a capture by samples says of the elements that it does not hold.
  WholeModel whole = {};
};

/// By both hard lenses; what failed is split into its terms, restated (restated_causes.hpp) and diagnosed. A capture that
/// declares no groups has them formed where its taps leave a gap.
JudgedCapture judged_capture(const Case& c, const Trace& trace, const CaptureOptions& options = {});

}  // namespace tally
