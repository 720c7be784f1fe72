// What a captured recipe itself changes against the full batch, before any rounding.
#pragma once

#include <optional>
#include <string>

#include "oracle/case/case.hpp"

namespace tally {

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

}  // namespace tally
