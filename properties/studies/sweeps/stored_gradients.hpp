// The gradient elements that a run stores in its storage format, and what the format's range did to them.
#pragma once

#include "properties/laws/law.hpp"
#include "properties/studies/jobs.hpp"

namespace tally {

/// Gradients of the first window: d.y of the loss, d.x of the layers and the parameters' gradients of every
/// micro-batch. Elements whose exact value is zero are not counted.
struct StoredGradients {
  double elements = 0;
  double flushed = 0;    // stored as zero
  double subnormal = 0;  // stored below the smallest normal number, and not zero
  double below = 0;      // of both, those whose exact value exceeds its bound: nothing but the range explains them
  double vanished = 0;   // of these, stored as zero
  double non_finite = 0;
  double least = 0, most = 0;   // exact magnitudes, without the loss scale
  double skipped = 0;           // 1 when the window was
  double failing = 0;           // checks of the local lens
  double drift = 0, bound = 0;  // of the parameter whose gradient drifts most, relative 2-norms

  Numbers numbers() const;
  static StoredGradients of(const Numbers& numbers);
};

StoredGradients stored_gradients(const Case& c, const Trace& trace, double loss_scale);

}  // namespace tally
