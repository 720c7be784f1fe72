// What a format's range did to stored gradients, and what the sweep over loss scales measured.
#pragma once

#include <limits>
#include <vector>

#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/drift.hpp"
#include "properties/laws/law.hpp"

namespace tally {

// The gradient elements that a run stores in its storage format, and what the format's range did to them.

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

// What the sweep over loss scales measured, by problem and scale.

struct ScalePart {
  const SweepProblem* problem;
  int exponent;  // of the scale, 2^exponent
  std::uint64_t seed;
};

/// Over all seeds of one problem at one scale.
struct AtScale {
  double scale = 1;
  StoredGradients sum;
  std::vector<double> rounding, bound;
  double runs = 0;

  bool all_normal() const { return sum.below + sum.non_finite + sum.skipped <= 0; }
};

/// Powers of two from `from` to `to`; empty where from > to.
struct ScaleRange {
  double from = std::numeric_limits<double>::infinity(), to = 0;
  bool empty() const { return !(from <= to); }
  bool holds(double scale) const { return from <= scale && scale <= to; }
};

/// All scales of one problem, and the scales that are safe for it.
struct ScaleCurve {
  const SweepProblem* problem;
  std::vector<AtScale> scales;
  double least = std::numeric_limits<double>::infinity(), most = 0;  // exact magnitudes of stored gradients, unscaled
  ScaleRange derived, measured;
};

/// `parts` stand problem by problem and scale by scale; parts without an answer are left out.
std::vector<ScaleCurve> scale_curves(const std::vector<ScalePart>& parts, const std::vector<Numbers>& answers);

}  // namespace tally
