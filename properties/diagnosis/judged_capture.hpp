// A recorded trace of a case, judged: what `tally check` says of it, which known bugs explain a failing check, and how
// far the recipe, and the loop, are from the full batch. Defined in judged_capture.cpp, diagnose.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/judge/pieces.hpp"
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
  /// Else the local lens alone, which holds some multiples of the largest tensor. Stages between missing taps are then
  /// judged only in groups that the trace declares, from the case on; no suspects are tried, as they hold the tensors
  /// of whole stages.
  bool all_lenses = true;
  /// Where set: is told by the local lens how many bytes of the trace it went through, and of which tap last.
  std::function<void(std::size_t bytes, const std::string& tap)> progress = {};
  /// Causes that the recorder saw: these come first among those that explain the failure.
  std::vector<std::string> seen = {};
};

/// By both hard lenses; what failed is split into its terms, restated (restatement.hpp) and diagnosed. A capture that
/// declares no groups has them formed where its taps leave a gap.
JudgedCapture judged_capture(const Case& c, const Trace& trace, const CaptureOptions& options = {});

// What a captured recipe itself changes against the full batch, before any rounding.

struct CaptureGap {
  /// |accumulated - full batch| / |full batch| of the first window's gradient, both exact; nothing where it is not known.
  std::optional<double> gradient;
  /// What the gap is and where it comes from, or why it is not known; empty where there is none.
  std::string sentence;
};

/// The gap is evaluated only where the normalisation or the statistics of a batch_norm can make one: else there is
/// none. It is not known for a model whose layers are given by the capture, nor for one too large to be evaluated in a
/// moment.
CaptureGap gap_of_capture(const Case& c);

/// Whether there is anything to evaluate.
bool may_have_gap(const Case& c);

// What a loop that fails does to the gradient: how far its own is from the one that its stated recipe gives.

/// ‖loop - stated‖ / ‖stated‖ of the window's accumulated gradient, over all parameters.
struct LoopGap {
  int window = 0;
  double gradient = 0;
};

/// The gap of the window that fails first. The end-to-end checks give it for known layers; for an opaque model, whose
/// micro-batches' gradients are given, each is taken times what its loss's factor should have been over what it was.
/// Nothing where too little was tapped, for ranks, and where nothing fails.
std::optional<LoopGap> loop_gap(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

}  // namespace tally
