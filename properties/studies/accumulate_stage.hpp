// The accumulate stage alone: many like addends in one buffer, every operation rounded once, beside the exact sum.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

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

}  // namespace tally
