// What a format's range did to stored gradients, and what the sweep over loss scales measured.
#include "properties/lab/sweeps/scale_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/graph/stage.hpp"
#include "oracle/tolerance/format.hpp"
#include "properties/judge/lens.hpp"
#include "properties/judge/two_runs.hpp"

namespace tally {
namespace {

/// Below this share of its bound, an exact value in long double cannot be told from zero.
constexpr double resolution = 0x1p-28;

bool is_stored_gradient(const TapName& name) {
  return name.window == 0 && name.micro_batch >= 0 && name.tensor.starts_with("d.") &&
         (name.stage == StageName::loss || name.stage == StageName::backward);
}

void count(StoredGradients& found, const Tensor& got, const oracle::Expected& expected, double loss_scale) {
  const double smallest_normal = std::ldexp(1.0, oracle::format_of(got.dtype).emin);
  for (std::size_t i = 0; i < got.elements(); ++i) {
    const double bound = expected.e.data()[i];
    const auto exact = static_cast<double>(std::fabs(expected.v.data()[i])), stored = std::fabs(got.value(i));
    if (exact == 0 || (std::isfinite(bound) && exact <= bound * resolution)) continue;
    ++found.elements;
    found.flushed += stored == 0;
    found.subnormal += stored > 0 && stored < smallest_normal;
    found.below += stored < smallest_normal && exact > bound;
    found.vanished += stored == 0 && exact > bound;
    found.non_finite += !std::isfinite(stored);
    if (!std::isfinite(exact)) continue;
    found.least = std::min(found.least, exact / loss_scale);
    found.most = std::max(found.most, exact / loss_scale);
  }
}

/// Takes the parameter's drift if it is the largest yet; a gradient that is exactly zero has none.
void take_drift(StoredGradients& found, const Tensor& got, const oracle::Expected& expected) {
  double error = 0, bound = 0, value = 0;
  for (std::size_t i = 0; i < got.elements(); ++i) {
    const auto exact = static_cast<double>(expected.v.data()[i]), e = expected.e.data()[i];
    const double off = got.value(i) - exact;
    error += off * off, bound += e * e, value += exact * exact;
  }
  if (!(value > 0) || (std::isfinite(bound) && std::sqrt(value) <= std::sqrt(bound) * resolution)) return;
  const double drift = std::sqrt(error / value);
  if (drift <= found.drift) return;
  found.drift = drift, found.bound = std::sqrt(bound / value);
}

}  // namespace

Numbers StoredGradients::numbers() const {
  return {elements, flushed, subnormal, below, vanished, non_finite, least, most, skipped, failing, drift, bound};
}

StoredGradients StoredGradients::of(const Numbers& n) {
  return {n.at(0), n.at(1), n.at(2), n.at(3), n.at(4), n.at(5), n.at(6), n.at(7), n.at(8), n.at(9), n.at(10), n.at(11)};
}

StoredGradients stored_gradients(const Case& c, const Trace& trace, double loss_scale) {
  StoredGradients found;
  found.least = std::numeric_limits<double>::infinity();
  const auto expectations = end_to_end_expectations(c, trace);
  for (const Tap& tap : trace.taps()) {
    const auto expected = expectations.find(tap.name.text());
    if (is_stored_gradient(tap.name) && expected != expectations.end())
      count(found, tap.value, expected->second, loss_scale);
    if (tap.name.stage == StageName::unscale && tap.name.tensor.starts_with("d.") && expected != expectations.end())
      take_drift(found, tap.value, expected->second);
  }
  const Tensor* overflow = trace.find("w0/overflow_check/found");
  found.skipped = overflow != nullptr && overflow->integer(0) != 0;
  for (const TensorCheck& check : local_lens(c, trace)) found.failing += check.status == Status::fail;
  return found;
}

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
