#include "properties/studies/sweeps/scale_curve.hpp"

#include <algorithm>
#include <cmath>

namespace tally {
namespace {

constexpr double smallest_normal = 0x1p-14, largest_finite = 65504;  // of fp16

void add(AtScale& at, const Numbers& numbers) {
  const StoredGradients found = StoredGradients::of(numbers);
  at.sum.elements += found.elements, at.sum.flushed += found.flushed, at.sum.subnormal += found.subnormal;
  at.sum.below += found.below, at.sum.vanished += found.vanished, at.sum.non_finite += found.non_finite;
  at.sum.skipped += found.skipped, at.sum.failing += found.failing;
  ++at.runs;
  if (found.skipped > 0) return;
  at.rounding.push_back(found.drift);
  at.bound.push_back(found.bound);
}

/// 2^-14 / least <= S < 65504 / most, in powers of two.
ScaleRange derived_range(double least, double most) {
  ScaleRange range{std::exp2(std::ceil(std::log2(smallest_normal / least))),
                   std::exp2(std::floor(std::log2(largest_finite / most)))};
  if (!(range.to * most < largest_finite)) range.to /= 2;
  return range;
}

/// The longest run of scales at which no element of any seed left the normal range.
ScaleRange measured_range(const std::vector<AtScale>& scales) {
  ScaleRange best, run;
  for (const AtScale& at : scales) {
    if (!at.all_normal()) {
      run = {};
      continue;
    }
    run = {std::min(run.from, at.scale), at.scale};
    if (best.empty() || run.to / run.from > best.to / best.from) best = run;
  }
  return best;
}

}  // namespace

std::vector<ScaleCurve> scale_curves(const std::vector<ScalePart>& parts, const std::vector<Numbers>& answers) {
  std::vector<ScaleCurve> curves;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (answers[i].empty()) continue;
    if (curves.empty() || curves.back().problem != parts[i].problem) {
      curves.emplace_back();
      curves.back().problem = parts[i].problem;
    }
    ScaleCurve& curve = curves.back();
    const double scale = std::exp2(parts[i].exponent);
    if (curve.scales.empty() || curve.scales.back().scale != scale) {
      curve.scales.emplace_back();
      curve.scales.back().scale = scale;
    }
    add(curve.scales.back(), answers[i]);
    if (parts[i].exponent > 0) continue;  // at scale 1 nothing overflows, so every magnitude is finite
    const StoredGradients found = StoredGradients::of(answers[i]);
    curve.least = std::min(curve.least, found.least), curve.most = std::max(curve.most, found.most);
  }
  for (ScaleCurve& curve : curves) {
    curve.derived = derived_range(curve.least, curve.most);
    curve.measured = measured_range(curve.scales);
  }
  return curves;
}

}  // namespace tally
