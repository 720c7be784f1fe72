// The accumulate stage alone: many like addends in one buffer, beside the exact sum, and its part of the sweep over
// micro-batches. Defined in accumulate.cpp, micro_batches.cpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "properties/lab/statistics.hpp"
#include "properties/lab/study.hpp"

namespace tally {

// The accumulate stage alone: many like addends in one buffer, every operation rounded once, beside the exact sum.

/// How the buffer's additions are rounded: to nearest even in a format; or towards zero in fp32, a biased rounding.
enum class Rounding { fp32, fp16, bf16, fp32_towards_zero };
std::string_view name_of(Rounding rounding);
/// p, the format's significant bits.
int precision_of(Rounding rounding);

/// plain: s = s + a. kahan: one compensation beside it. pairwise: a buffer for every power of two.
enum class BufferKind { plain, kahan, pairwise };
std::string_view name_of(BufferKind kind);

enum class Signs { random, same };

/// Over all lanes (independent sums).
struct BufferDrift {
  double error_squares = 0, exact_squares = 0;
  std::uint64_t lost = 0;   // additions of the plain buffer that left it as it was: |a| below half an ulp of s
  double relative() const;  // ‖buffer - exact‖ / ‖exact‖
};

struct StageDrift {
  BufferDrift plain, kahan, pairwise;
};

/// Sums `addends` numbers ± m 2^e, m in [1, 2) with the format's p bits, e in -8 … -6, in `lanes` lanes, each lane with
/// numbers of its own. All are multiples of 2^(-7-p), and sums of 2^20 of them stay below 2^15: the exact sum is exact
/// in binary64, and no format over- or underflows.
StageDrift accumulate_alone(Rounding rounding, Signs signs, std::uint64_t addends, std::uint64_t lanes,
                            std::uint64_t seed);

// The part of the sweep over micro-batches that looks at the accumulate stage alone.

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
