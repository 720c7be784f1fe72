// The window's stages with bounds.
// Defined in bound_factor.cpp, bound_norm.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/tolerance/bounded.hpp"
#include "oracle/tolerance/expected.hpp"
#include "oracle/tolerance/predicted_bits.hpp"

namespace tally::oracle {

// What the norm over all gradients adds up, tensor by tensor: for gradients that are not at hand together.

/// Sums over elements v with error bounds e. A sum over several parts is the sum of theirs.
struct NormTerms {
  long double power_sum = 0;  // (clip.1) before its root: Σ|v|^p, or the largest |v|
  double largest_e = 0, sum_e = 0, squares_e = 0;
  double sum = 0, squares = 0;  // of |v| + e
  bool finite = true;           // every v is
  std::vector<double> counts;   // of elements, tensor by tensor

  double count() const;
  /// One tensor more, by the norm that `clip` takes.
  void add(const Declared& declared, const Choice& clip, const Expected& gradient);
  /// The terms of further tensors.
  void add(const Choice& clip, const NormTerms& more);
  /// The terms of every element times `factor`, a scalar, rounded to fp32 as `scaled` bounds it.
  NormTerms times(const Declared& declared, const Choice& clip, const Expected& factor) const;
};

/// The terms of the 2-norm where an observer who saw all `count` elements, fp32 or narrower, added their squares up in
/// binary64 in some order: not finite where one of them is not.
NormTerms terms_of_squares(double count, double sum_of_squares);

// The window's stages with bounds, and bit by bit where a subject claims to compute as kernels/arithmetic.md writes
// them.

// A tensor read in parts.

/// f of a gradient; of one that is only read some rows at a time, which fit a cache.
template <class F>
void each_stretch(const Expected& gradient, F&& f) {
  if (gradient.only_read == nullptr) return f(gradient);
  constexpr Eigen::Index elements_at_once = 1 << 14;
  const Tensor& tensor = *gradient.only_read;
  const Eigen::Index rows = row_count(tensor), columns = static_cast<Eigen::Index>(tensor.elements()) / rows;
  const Eigen::Index at_once = std::max<Eigen::Index>(1, elements_at_once / std::max<Eigen::Index>(1, columns));
  for (Eigen::Index first = 0; first < rows; first += at_once) {
    const Expected next = as_read(tensor, first, std::min(at_once, rows - first));
    f(next);
    mapped_bytes_read(static_cast<std::size_t>(next.v.size()) * sizeof(float));
  }
}

// The window's stages with bounds. `rounded_...` predict the bits of a stage that is one correctly rounded operation on
// bits that were read (e = 0); the others carry (v, e) through any number of windows. What a kind of the recipe does is
// its own file's (oracle/recipe/recipe_rules.hpp); one that has none there is a std::logic_error.

Expected scalar(long double v, double e = 0);

// What a stage leaves that is one correctly rounded operation: floats hold all three formats.
Matrix<float> rounded_cast(const Format& to, const FloatsRef& x);
/// The accumulate format's nearest to fl32(buffer + gradient).
Matrix<float> rounded_accumulate(const Format& accumulate, const FloatsRef& buffer, const FloatsRef& gradient);
/// The accumulate format's nearest to buffer + RN(gradient), one rounding each in that format.
Matrix<float> rounded_native_accumulate(const Format& accumulate, const FloatsRef& buffer, const FloatsRef& gradient);
/// What the claim of `accumulate` lets the buffer be after one addition: its bits (plain, native), or nothing.
std::optional<Matrix<float>> rounded_accumulate(const Declared& declared, const FloatsRef& buffer,
                                                const FloatsRef& gradient);
/// The same, with a bound where the bits are open.
Expected held_accumulate(const Declared& declared, const FloatsRef& buffer, const FloatsRef& gradient);
/// A buffer and its compensation after one compensated addition, where the compensation is known as well.
struct CompensatedStep {
  Matrix<float> buffer, compensation;
};
CompensatedStep rounded_compensated(const Declared& declared, const FloatsRef& buffer, const FloatsRef& compensation,
                                    const FloatsRef& gradient);
/// fl32(x factor).
Matrix<float> rounded_product(const FloatsRef& x, float factor);
/// The clipped gradient; `coefficient` as it was read, of a clip by norm.
Matrix<float> rounded_clip(const Choice& clip, float coefficient, const FloatsRef& gradient);
/// A constant's bits, where only one float lies within its bound; else the bound as it is. fp32 [1, 1].
Expected predicted_constant(const Expected& constant);
/// 1 when an element of a buffer is not finite.
bool any_non_finite(const Tensor& buffer);

Expected cast(const Declared& declared, const Format& to, const Expected& x);
/// buffer + gradient by the claimed algorithm, one step. A compensated sum carries an unseen compensation of at most
/// 4 u |buffer|. Throws std::logic_error for an algorithm without a bound.
Expected accumulated(const Declared& declared, const Expected& buffer, const Expected& gradient);
/// A compensated (Kahan) sum of all gradients of a window in the accumulate format, the buffer it leaves.
Expected compensated_sum(const Declared& declared, const std::vector<Expected>& gradients);
/// The epilogue form: a GEMM with beta = 1, buffer + a b [m, k] [k, n], stored once in the accumulate format. A buffer
/// of exact zeros costs no addition.
Expected accumulated_by_gemm(const Declared& declared, const Expected& buffer, const Expected& a, const Expected& b);
Expected scaled(const Declared& declared, const Expected& x, const Expected& factor);

/// c of micro-batch k, (divisor.2), fp32 [1, 1]. With `divide: window` the divisor of the window (N, or K) enters in
/// inverse_scale instead. Claim `factor` says how it is rounded.
Expected factor(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch,
                const Expected& scale);
/// Its bits, where the claim leaves one float; else the bound.
Expected predicted_factor(const Declared& declared, const Case& c, std::size_t window, std::size_t micro_batch,
                          const Expected& scale);
/// 1 / scale, with `divide: window` also over the window's divisor.
Expected inverse_scale(const Declared& declared, const Case& c, std::size_t window, const Expected& scale);

/// Gradients may be only_read().
Expected norm(const Declared& declared, const Choice& clip, const ExpectedTensors& gradients);
/// The same of gradients that are not at hand together. The largest height of a claim in chunks holds.
Expected norm(const Declared& declared, const Choice& clip, const NormTerms& terms);
/// The sum of their squares, fp32 [1, 1]: the 2-norm before its root.
Expected squares_of(const Declared& declared, const ExpectedTensors& gradients);
/// The coefficient of a clip by norm at step t, and what it leaves of a gradient.
Expected coefficient(const Declared& declared, const Choice& clip, const Expected& norm, std::int64_t step);
Expected clipped(const Declared& declared, const Choice& clip, const Expected& coefficient, const Expected& gradient);

/// A step's rate, exactly, and what its derivation may be off before it is rounded: in binary64 by `margin`, with claim
/// `constants: fp32` by `in_fp32`. A power is off by its factor's own rounding as many times over.
struct StepRate {
  StepRate(long double rate, long double off = 0, double off_in_fp32 = 0)
      : exact(rate), margin(off), in_fp32(off_in_fp32) {}
  long double exact, margin;
  double in_fp32;
};
StepRate step_rate(const Choice& schedule, std::int64_t step);
/// The float that holds it.
Bounded held_rate(const Declared& declared, const StepRate& rate);

/// Element by element. The new gradient where decays_gradient says so, which does not read the rate; else the new
/// parameter, which does not read the gradient.
Expected decayed(const Declared& declared, const Choice& decay, const StepRate& rate, const Expected& gradient,
                 const Expected& parameter);

Expected running_mean(const Declared& declared, const Layer& layer, const Expected& running, const Expected& mean);
Expected running_var(const Declared& declared, const Layer& layer, const Expected& running, const Expected& biased_var,
                     std::int64_t rows);

/// fp32 [1, 1]: the rate of step t.
Expected rate(const Declared& declared, const Choice& schedule, std::int64_t step);

struct ExpectedScale {
  Expected scale;  // fp32 [1, 1]
  std::int64_t growth_counter;
};
ExpectedScale first_scale(const Choice& loss_scale);
ExpectedScale scale_after(const Declared& declared, const Choice& loss_scale, const ExpectedScale& now,
                          bool found_non_finite);

// The bits of the window's stages that a subject claims to compute as kernels/arithmetic.md writes them, from the bits
// they read. Nothing where the claim is missing, or a constant may be either of two floats.

/// fp32 [1, 1], from the norm: of a clip by norm at step t.
Prediction predicted_coefficient(const Declared& declared, const Choice& clip, float norm, std::int64_t step);
/// At step t of the schedule: the new gradient or the new parameter, as oracle::decayed.
Prediction predicted_decayed(const Declared& declared, const Choice& decay, const Choice& schedule, std::int64_t step,
                             const Matrix<float>& gradient, const Matrix<float>& parameter);

Prediction predicted_running_mean(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                  const Matrix<float>& mean);
Prediction predicted_running_var(const Declared& declared, const Layer& layer, const Matrix<float>& running,
                                 const Matrix<float>& biased_var, std::int64_t rows);

}  // namespace tally::oracle
