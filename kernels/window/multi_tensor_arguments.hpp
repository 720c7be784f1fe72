// What the fused passes over all parameters of a window take: tables of tensors. Any tensor may be empty, of an odd
// size, and begin at any element.
#pragma once

#include <span>

#include "kernels/window/arguments.hpp"

namespace tally {

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

}  // namespace tally
