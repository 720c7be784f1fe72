#include "properties/studies/sweeps/accumulate_part.hpp"

#include <algorithm>
#include <cmath>

#include "properties/studies/jobs.hpp"
#include "properties/studies/wording.hpp"

namespace tally {
namespace {

constexpr Rounding roundings[] = {Rounding::fp32, Rounding::fp16, Rounding::bf16};
constexpr Signs both_signs[] = {Signs::random, Signs::same};
constexpr BufferKind kinds[] = {BufferKind::plain, BufferKind::kahan, BufferKind::pairwise};

/// Largest exponent of K: 20 at effort 1, one less for each halving.
int largest_exponent(const StudyOptions& options) {
  return std::clamp(20 + static_cast<int>(std::lround(std::log2(options.effort))), 10, 20);
}

struct Part {
  Rounding rounding;
  Signs signs;
  int exponent;
};

/// The longest sums first, so that no process waits for one at the end.
std::vector<Part> parts_of(int largest) {
  std::vector<Part> parts;
  for (int exponent = largest; exponent >= 1; --exponent) {
    for (const Rounding rounding : roundings) {
      for (const Signs signs : both_signs) parts.push_back({rounding, signs, exponent});
    }
  }
  return parts;
}

Numbers measured(const Part& part, const StudyOptions& options) {
  const std::uint64_t own = static_cast<std::uint64_t>(part.exponent) << 8 |
                            static_cast<std::uint64_t>(part.rounding) << 4 | static_cast<std::uint64_t>(part.signs);
  const StageDrift drift = accumulate_alone(part.rounding, part.signs, std::uint64_t{1} << part.exponent,
                                            lanes_of(options), options.seed ^ own << 40);
  return {drift.plain.relative(), drift.kahan.relative(), drift.pairwise.relative(),
          static_cast<double>(drift.plain.lost)};
}

}  // namespace

std::size_t lanes_of(const StudyOptions& options) { return scaled(options, 32, 8); }

void fit_below_stagnation(BufferCurve& curve, const std::vector<double>& lost) {
  std::vector<double> addends, drift;
  curve.fitted = 0;
  for (std::size_t i = 0; i < lost.size() && lost[i] <= 0; ++i) {
    curve.fitted = i + 1;
    if (curve.addends[i] < first_fitted) continue;
    addends.push_back(curve.addends[i]);
    drift.push_back(curve.drift[i]);
  }
  curve.fit = fit_power(addends, drift);
}

Status bias_verdict(const Fit& fit) {
  if (fit.interval.high < 1) return Status::pass;
  return fit.interval.low > 0.5 ? Status::fail : Status::vacuous;
}

std::vector<BufferCurve> buffer_curves(const StudyOptions& options) {
  const auto parts = parts_of(largest_exponent(options));
  const auto answers = run_jobs(
      options, parts.size(), [&](std::size_t i) { return measured(parts[i], options); },
      [&](std::size_t i) {
        return "accumulate alone, " + std::string(name_of(parts[i].rounding)) + ", K = 2^" +
               std::to_string(parts[i].exponent);
      });
  std::vector<BufferCurve> curves;
  for (const Signs signs : both_signs) {
    for (const BufferKind kind : kinds) {
      for (const Rounding rounding : roundings) {
        BufferCurve curve{rounding, signs, kind, {}, {}};
        std::vector<double> lost;
        for (std::size_t i = parts.size(); i-- > 0;) {
          if (parts[i].rounding != rounding || parts[i].signs != signs || answers[i].empty()) continue;
          curve.addends.push_back(std::exp2(parts[i].exponent));
          curve.drift.push_back(answers[i][static_cast<std::size_t>(kind)]);
          lost.push_back(answers[i][3]);
        }
        fit_below_stagnation(curve, lost);
        curves.push_back(std::move(curve));
      }
    }
  }
  return curves;
}

const BufferCurve& curve_of(const std::vector<BufferCurve>& curves, Rounding rounding, Signs signs, BufferKind kind) {
  return *std::find_if(curves.begin(), curves.end(), [&](const BufferCurve& curve) {
    return curve.rounding == rounding && curve.signs == signs && curve.kind == kind;
  });
}

}  // namespace tally
