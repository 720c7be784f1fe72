// The part of the sweep over micro-batches that looks at the accumulate stage alone.
// Defined in accumulate_part.cpp, accumulate_tables.cpp.
#pragma once

#include "properties/studies/accumulate_stage.hpp"
#include "properties/studies/fit.hpp"
#include "properties/studies/study.hpp"

namespace tally {

/// One buffer's drift against the number of addends, and the exponent fitted to it.
struct BufferCurve {
  Rounding rounding;
  Signs signs;
  BufferKind kind;
  std::vector<double> addends, drift;  // relative; addends rise by factors of two
  std::size_t fitted = 0;              // points before the first lost addition of the plain buffer
  Fit fit{};                           // over those of them from first_fitted on
};

/// Every format, with addends of one sign and of either, in a plain, a Kahan and a pairwise buffer.
std::vector<BufferCurve> buffer_curves(const StudyOptions& options);

/// Below so many addends the lower-order terms of the laws show by more than a tenth (sum of k^2 for k up to K is
/// K^3 / 3 (1 + 3 / (2 K) + ...)), and an exponent would be fitted to them.
inline constexpr double first_fitted = 16;

/// Fits the points from first_fitted on, up to the first in which an addend was lost.
void fit_below_stagnation(BufferCurve& curve, const std::vector<double>& lost);

/// What an exponent says about the rounding: 1/2 is unbiased, 1 is biased. pass: the interval lies below 1. fail: it
/// reaches 1 and excludes 1/2. vacuous: it holds both, or there are too few points to tell.
Status bias_verdict(const Fit& fit);

const BufferCurve& curve_of(const std::vector<BufferCurve>& curves, Rounding rounding, Signs signs, BufferKind kind);

/// Plots, tables and notes about the curves.
void show_buffer_curves(Study& study, const std::vector<BufferCurve>& curves, std::size_t lanes);

/// Sums of one number of addends.
std::size_t lanes_of(const StudyOptions& options);

}  // namespace tally
