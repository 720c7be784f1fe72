// What the kernels of a window's stages take. Gradients after unscaling are fp32; buffers across micro-batches,
// masters, optimizer state and running values are of any storage format, computed with in fp32. Any size may be 0.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// copy S = master M.
struct CastArguments {
  Dtype storage;
  const void* master;
  void* copy;
  std::int64_t elements;
  Dtype format = Dtype::fp32;  // M
};

/// buffer A += gradient S; a compensated sum reads and leaves what its roundings lost in `compensation` A.
struct AccumulateArguments {
  Dtype storage;
  const void* gradient;
  void* buffer;
  std::int64_t elements;
  Dtype format = Dtype::fp32;    // A
  void* compensation = nullptr;  // for the variants that claim it; zero before the first addition
};

/// (running_statistics.1) with a correction of 1, which changes nothing, or (running_statistics.2) with n / (n - 1).
struct RunningStatsArguments {
  void* running;
  const float* batch;
  std::int64_t features;
  float momentum, one_minus_momentum, correction;
  Dtype format = Dtype::fp32;  // of `running`
};

/// found |= any element is not finite. `format` is fp32 for buffers, S for gradients written directly.
struct OverflowCheckArguments {
  Dtype format;
  const void* values;
  std::uint32_t* found;
  std::int64_t elements;
};

/// out fp32 = in * inverse_scale, (scaler.1), or in itself without a scale. `format` as in OverflowCheckArguments.
struct UnscaleArguments {
  Dtype format;
  const void* in;
  float* out;
  const float* inverse_scale;  // on the device; nullptr without a scale
  std::int64_t elements;
};

/// squares: the 2-norm before its root.
enum class NormKind { one, two, infinity, squares };

struct NormSource {
  const float* values;
  std::int64_t elements;
};

/// norm [] over all sources together. `partial` has norm_chunks(sources) elements.
struct NormArguments {
  NormKind kind;
  std::span<const NormSource> sources;
  float* partial;
  float* norm;
};

/// Elements one block of the norm's first stage reads.
inline constexpr std::int64_t norm_chunk = 4096;
/// One partial result a chunk; an empty source has none.
inline std::int64_t norm_chunks(std::span<const NormSource> sources) {
  std::int64_t chunks = 0;
  for (const auto& source : sources) chunks += (source.elements + norm_chunk - 1) / norm_chunk;
  return chunks;
}

/// coefficient [] of (global_norm.1).
struct ClipCoefficientArguments {
  const float* norm;
  float* coefficient;
  float max_norm, epsilon;
};

/// gradient *= coefficient, in place.
struct ClipByNormArguments {
  float* gradient;
  const float* coefficient;
  std::int64_t elements;
};

/// gradient clamped to +-max_value, in place; NaN stays.
struct ClipByValueArguments {
  float* gradient;
  std::int64_t elements;
  float max_value;
};

/// l2: (l2.1) changes the gradient. decoupled: (decoupled.1) changes the parameter, by factor = 1 - lr lambda.
struct DecayArguments {
  float* gradient;
  void* parameter;
  std::int64_t elements;
  float lambda, factor;
  Dtype format = Dtype::fp32;  // of the parameter
};

/// momentum nullptr: plain SGD. `first`: there is no buffer yet, so it becomes the gradient.
struct SgdArguments {
  const float* gradient;
  void *parameter, *momentum;
  std::int64_t elements;
  float rate, mu, one_minus_dampening;
  bool nesterov, first;
  Dtype format = Dtype::fp32;  // of parameter and momentum
};

/// corrected_rate = lr / (1 - beta1^(t+1)), root_correction = sqrt(1 - beta2^(t+1)).
struct AdamArguments {
  const float* gradient;
  void *parameter, *exp_avg, *exp_avg_sq;
  std::int64_t elements;
  float beta1, one_minus_beta1, beta2, one_minus_beta2, corrected_rate, root_correction, eps;
  Dtype format = Dtype::fp32;  // of parameter and moments
};

/// The dynamic loss scale after a window, in place.
struct ScalerArguments {
  float* scale;
  std::int64_t* growth_counter;
  const std::uint32_t* found;
  float growth_factor, backoff_factor;
  std::int64_t growth_interval;
};

// What the kernel of Lion takes.

/// Gradient fp32; parameter and exp_avg in the master format, in place.
struct LionArguments {
  const float* gradient;
  void *parameter, *exp_avg;
  std::int64_t elements;
  float rate, beta1, one_minus_beta1, beta2, one_minus_beta2;
  Dtype format = Dtype::fp32;
};

// What the kernel of RMSProp takes.

/// Gradient fp32; the others in the master format, in place. `momentum_buffer` is nullptr without momentum.
struct RmspropArguments {
  const float* gradient;
  void *parameter, *square_avg, *momentum_buffer;
  std::int64_t elements;
  float rate, alpha, one_minus_alpha, eps, mu;
  Dtype format = Dtype::fp32;
};

// What the fused passes over all parameters of a window take: tables of tensors. Any tensor may be empty, of an odd
// size, and begin at any element.

/// out fp32 from in S or A.
struct SummedTensor {
  const void* in;
  float* out;
  std::int64_t elements;
};

/// One read of every summed gradient: found |= not finite (nullptr: not asked for), out = in * inverse_scale as
/// UnscaleArguments, and the norm [] of all out as NormArguments (nullptr: not asked for; then `partial` may be too).
struct UnscaleCheckNormArguments {
  std::span<const SummedTensor> tensors;
  Dtype format;
  const float* inverse_scale;
  std::uint32_t* found;
  NormKind kind;
  float *partial, *norm;  // norm_chunks of the tensors; []
};

/// One parameter's step. `first`: SGD's momentum (nullptr: plain) or Adam's exp_avg; `second`: exp_avg_sq. All of the
/// master format but the gradient, fp32, which is only read.
struct SteppedTensor {
  const float* gradient;
  void *parameter, *first, *second;
  std::int64_t elements;
  bool decays, started;  // started: `first` holds something
};

enum class ClipKind { none, by_norm, by_value };
enum class DecayKind { none, l2, decoupled };

/// One read of every gradient and parameter: clip, decay and the optimizer's step as ClipCoefficientArguments,
/// ClipByNormArguments, ClipByValueArguments, DecayArguments and SgdArguments or AdamArguments say, whose constants
/// these are; their tensors and sizes are not read.
struct ClipDecayStepArguments {
  std::span<const SteppedTensor> tensors;
  Dtype format;
  ClipKind clip;
  ClipCoefficientArguments by_norm;
  float max_value;
  DecayKind decay;
  float lambda, factor;
  bool adam;
  SgdArguments sgd_constants;
  AdamArguments adam_constants;
};

/// Gradient fp32; the others in the master format, in place: `row` [matrices, rows], `column` [matrices, columns]. Of a
/// vector `column` is nullptr, `row` its variance, and each element a row of one column. `sums` fp32 [2 + matrices]: of
/// the squares of the parameter and of the update, and the mean of each matrix's rows. What sums are divided by comes
/// as floats.
struct AdafactorArguments {
  const float* gradient;
  void *parameter, *row, *column;
  float* sums;
  std::int64_t matrices, rows, columns;
  float per_row, per_column, per_tensor;  // elements
  float share, rho, eps1, squared_eps1, eps2, d;
  Dtype format = Dtype::fp32;
};

// Of sums over ranks.

/// out = in * factor, rounded to `format`: what travels between ranks.
struct RankScaleArguments {
  Dtype from;
  const void* in;
  Dtype format;
  void* out;
  float factor;
  std::int64_t elements;
};

/// sum += addend, both in `format`, which every sum is rounded to.
struct RankSumArguments {
  Dtype format;
  void* sum;
  const void* addend;
  std::int64_t elements;
};

// Of sharpness-aware minimisation.

/// Norm and coefficient fp32 []. `up`: in the first window of two.
struct SamCoefficientArguments {
  const float* norm;
  float* coefficient;
  float rho, epsilon;
  bool up;
};

/// Gradient fp32 [elements], parameter and kept weights [elements] in the master format; `up` writes both, else the
/// parameter alone.
struct SamArguments {
  const float* gradient;
  void *parameter, *kept;
  std::int64_t elements;
  float rate;
  bool up;
  Dtype format = Dtype::fp32;
};

}  // namespace tally
