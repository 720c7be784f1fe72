// How far one run's first window gradient is from the exact one, split as every drift is.
#pragma once

#include "properties/laws/law.hpp"
#include "properties/studies/jobs.hpp"

namespace tally {

/// Relative 2-norms over the gradient of all parameters. The bound is infinite where the end-to-end lens has none (a
/// divisor or a decision that its intervals leave open); then the exact gradient is that of the exact decisions. The
/// rounding drift is NaN where the window was skipped.
struct WindowDrift {
  double semantic_gap = 0;  // exact accumulated - exact full batch
  double rounding = 0;      // subject - exact accumulated
  double bound = 0;         // of the rounding drift

  Numbers numbers() const { return {semantic_gap, rounding, bound}; }
  static WindowDrift of(const Numbers& numbers) { return {numbers.at(0), numbers.at(1), numbers.at(2)}; }
  /// NaN is not.
  bool within_bound() const { return rounding <= bound; }
};

/// Runs the case; throws as run() does.
WindowDrift window_drift(const Case& c, const RunOptions& subject);
WindowDrift window_drift(const Case& c, const Trace& trace);

}  // namespace tally
