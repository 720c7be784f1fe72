// What the sweep over loss scales measured, by problem and scale.
#pragma once

#include <limits>
#include <vector>

#include "properties/studies/sweeps/problem.hpp"
#include "properties/studies/sweeps/stored_gradients.hpp"

namespace tally {

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
