// A window's stages fused into two passes over all parameters: one up to the norm, one up to the step.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/window/arguments.hpp"
#include "kernels/window/norm_chunks.hpp"
#include "kernels/window/tensor_chunks.hpp"

// One pass over the summed gradients of all parameters: found |= 1 where an element is not finite, (scaler.1) as
// kernels/window/scaling.cu, and the norm of all out, (clip.1); the stages overflow_check, unscale and norm fused.
//
//   in [tensors][elements] fp32 (buffers, A) or S   out [tensors][elements] fp32
//   inverse_scale [] fp32   found [] u32   partial [chunks] fp32   norm [] fp32
//
// One block a chunk (kernels/window/tensor_chunks.hpp). A block's part of the norm is reduced as in
// kernels/window/norm.cu, in registers: the same additions in the same order, so the same bits; then one block over all
// chunks. The flag is set by an integer atomic. Where no norm is asked for, or no flag, nothing is done for it.
namespace tally::unscale_check_norm_kernel {
namespace {

template <class T>
struct Gradients {
  TensorChunks table;
  const T* in[tensors_a_launch];
  float* out[tensors_a_launch];
};

/// Six blocks a multiprocessor: what a turn's loads need in registers, and threads enough to wait for memory together.
template <class T, class Reduction>
__global__ void __launch_bounds__(threads_a_chunk, 6)
    read_once(Gradients<T> gradients, const float* inverse_scale, std::uint32_t* found, float* partial) {
  const ChunkRange range = gradients.table.range(blockIdx.x);
  const T* in = gradients.in[range.tensor] + range.begin;
  float* out = gradients.out[range.tensor] + range.begin;
  const bool scales = inverse_scale != nullptr;
  const float inverse = scales ? *inverse_scale : 1.0f;
  const Reduction combine;
  float value = 0.0f;
  bool finite = true;
  const auto read = [&](int i) { return in[i]; };
  for_own_elements<8>(range.elements(), read, [&](int i, T stored) {
    const float sum = to_float(stored);
    finite = finite && isfinite(sum);
    const float unscaled = scales ? __fmul_rn(sum, inverse) : sum;
    out[i] = unscaled;
    value = combine(value, Reduction::term(unscaled));
  });
  if (found != nullptr && !finite) atomicOr(found, 1u);
  if (partial == nullptr) return;
  value = BlockShuffles::reduce(value, combine);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

template <class T>
Gradients<T> gradients_of(std::span<const SummedTensor> tensors, const TensorBatch& batch) {
  Gradients<T> gradients{batch.table, {}, {}};
  for (int i = 0; i < batch.table.tensors; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const SummedTensor& tensor = tensors[batch.which[at]];
    gradients.in[at] = static_cast<const T*>(tensor.in);
    gradients.out[at] = tensor.out;
  }
  return gradients;
}

/// Returns the chunks of all.
template <class T, class Reduction>
std::int64_t launch_reads(Stream& stream, const UnscaleCheckNormArguments& a, float* partial) {
  const auto elements_of = [&](std::size_t i) { return a.tensors[i].elements; };
  return for_each_batch(a.tensors.size(), elements_of, [&](const TensorBatch& batch) {
    launch<read_once<T, Reduction>>(stream, shape_of(batch), gradients_of<T>(a.tensors, batch), a.inverse_scale,
                                    a.found, partial != nullptr ? partial + batch.done : nullptr);
  });
}

void unscale_check_norm(Stream& stream, const UnscaleCheckNormArguments& a) {
  by_storage(a.format, [&]<class T>(T) {
    if (a.norm != nullptr || declaring_paths()) {
      by_norm_kind(a.kind, [&]<class Reduction>() {
        const std::int64_t chunks = launch_reads<T, Reduction>(stream, a, a.partial);
        launch_partials<Reduction, BlockShuffles>(stream, a.partial, chunks, a.norm);
      });
    }
    if (a.norm == nullptr) {
      const LaunchPart part("without a norm");
      launch_reads<T, SumOfSquares>(stream, a, nullptr);
    }
  });
}

const RegisterKernel registered("unscale_check_norm", {.variant = "multi_tensor", .additions = two_stage_additions()},
                                unscale_check_norm, KernelUse::when_named);

}  // namespace
}  // namespace tally::unscale_check_norm_kernel

// One pass over all parameters: clip, weight decay and the optimizer's step fused, without writing the gradients
// between. Every operation rounds as in kernels/window/{clip_by_norm,clip_by_value,decay,sgd,adam}.cu, so the same bits
// result.
//
//   gradient [tensors][elements] fp32   parameter, first, second [tensors][elements] M, in place
//   norm, coefficient [] fp32
//
// One block a chunk (kernels/window/tensor_chunks.hpp); every thread computes the clip's coefficient, one writes it.
namespace tally::clip_decay_step_kernel {
namespace {

template <class M>
struct Tensors {
  TensorChunks table;
  const float* gradient[tensors_a_launch];
  M *parameter[tensors_a_launch], *first[tensors_a_launch], *second[tensors_a_launch];
  bool decays[tensors_a_launch], started[tensors_a_launch];
};

struct Clip {
  ClipKind kind;
  const float* norm;
  float max_norm, epsilon, max_value;

  /// 1 where the clip is not by norm.
  __device__ float coefficient() const {
    if (kind != ClipKind::by_norm) return 1.0f;
    const float divisor = __fadd_rn(*norm, epsilon);
    const float ratio = __fdiv_rn(max_norm, divisor);
    return divisor == 0.0f || ratio > 1.0f ? 1.0f : ratio;
  }
  __device__ float clipped(float g, float by) const {
    if (kind == ClipKind::by_norm) return __fmul_rn(g, by);
    if (kind == ClipKind::none) return g;
    return g > max_value ? max_value : g < -max_value ? -max_value : g;
  }
};

struct Decay {
  DecayKind kind;
  float lambda, factor;
};

/// One element as it is read and, but for the gradient, written.
template <class M>
struct Element {
  float gradient;
  M parameter, first, second;
};

struct Sgd {
  float rate, mu, one_minus_dampening;
  bool nesterov;
  static constexpr bool has_second = false;

  template <class M>
  __device__ float moved(float parameter, float g, Element<M>& of, bool momentum, bool started) const {
    float direction = g;
    if (momentum) {
      const float kept = started ? __fmul_rn(mu, to_float(of.first)) : 0.0f;
      of.first = from_float<M>(started ? __fadd_rn(kept, __fmul_rn(one_minus_dampening, g)) : g);
      const float now = to_float(of.first);
      direction = nesterov ? __fadd_rn(g, __fmul_rn(mu, now)) : now;
    }
    return __fsub_rn(parameter, __fmul_rn(rate, direction));
  }
};

struct Adam {
  float beta1, one_minus_beta1, beta2, one_minus_beta2, corrected_rate, root_correction, eps;
  static constexpr bool has_second = true;

  template <class M>
  __device__ float moved(float parameter, float g, Element<M>& of, bool, bool) const {
    of.first = from_float<M>(__fadd_rn(__fmul_rn(beta1, to_float(of.first)), __fmul_rn(one_minus_beta1, g)));
    of.second =
        from_float<M>(__fadd_rn(__fmul_rn(beta2, to_float(of.second)), __fmul_rn(one_minus_beta2, __fmul_rn(g, g))));
    const float divisor = __fadd_rn(__fdiv_rn(__fsqrt_rn(to_float(of.second)), root_correction), eps);
    return __fsub_rn(parameter, __fmul_rn(corrected_rate, __fdiv_rn(to_float(of.first), divisor)));
  }
};

template <class M, class Step>
__global__ void step_once(Tensors<M> tensors, Clip clip, Decay decay, Step step, float* coefficient) {
  const ChunkRange range = tensors.table.range(blockIdx.x);
  const int t = range.tensor;
  const float* gradient = tensors.gradient[t] + range.begin;
  M* parameter = tensors.parameter[t] + range.begin;
  const bool has_first = Step::has_second || tensors.first[t] != nullptr, started = tensors.started[t];
  M* first = has_first ? tensors.first[t] + range.begin : nullptr;
  M* second = Step::has_second ? tensors.second[t] + range.begin : nullptr;
  const DecayKind decays = tensors.decays[t] ? decay.kind : DecayKind::none;
  const float by = clip.coefficient();
  if (coefficient != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *coefficient = by;
  const auto read = [&](int i) {
    Element<M> element{gradient[i], parameter[i], {}, {}};
    if (has_first) element.first = first[i];
    if constexpr (Step::has_second) element.second = second[i];
    return element;
  };
  for_own_elements<4>(range.elements(), read, [&](int i, Element<M> element) {
    float g = clip.clipped(element.gradient, by);
    float value = to_float(element.parameter);
    if (decays == DecayKind::l2) g = __fadd_rn(g, __fmul_rn(decay.lambda, value));
    if (decays == DecayKind::decoupled) value = to_float(from_float<M>(__fmul_rn(value, decay.factor)));
    parameter[i] = from_float<M>(step.moved(value, g, element, has_first, started));
    if (has_first) first[i] = element.first;
    if constexpr (Step::has_second) second[i] = element.second;
  });
}

template <class M>
Tensors<M> tensors_of(std::span<const SteppedTensor> all, const TensorBatch& batch) {
  Tensors<M> tensors{};
  tensors.table = batch.table;
  for (int i = 0; i < batch.table.tensors; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const SteppedTensor& tensor = all[batch.which[at]];
    tensors.gradient[at] = tensor.gradient;
    tensors.parameter[at] = static_cast<M*>(tensor.parameter);
    tensors.first[at] = static_cast<M*>(tensor.first);
    tensors.second[at] = static_cast<M*>(tensor.second);
    tensors.decays[at] = tensor.decays;
    tensors.started[at] = tensor.started;
  }
  return tensors;
}

template <class Step>
void launch_step(Stream& stream, const ClipDecayStepArguments& a, Step step) {
  const Clip clip{a.clip, a.by_norm.norm, a.by_norm.max_norm, a.by_norm.epsilon, a.max_value};
  const auto elements_of = [&](std::size_t i) { return a.tensors[i].elements; };
  by_storage(a.format, [&]<class M>(M) {
    for_each_batch(a.tensors.size(), elements_of, [&](const TensorBatch& batch) {
      launch<step_once<M, Step>>(stream, shape_of(batch), tensors_of<M>(a.tensors, batch), clip,
                                 Decay{a.decay, a.lambda, a.factor}, step,
                                 a.clip == ClipKind::by_norm ? a.by_norm.coefficient : nullptr);
    });
  });
}

void clip_decay_step(Stream& stream, const ClipDecayStepArguments& a) {
  const SgdArguments& sgd = a.sgd_constants;
  const AdamArguments& adam = a.adam_constants;
  if (a.adam || declaring_paths()) {
    const LaunchPart part("Adam");
    launch_step(stream, a,
                Adam{adam.beta1, adam.one_minus_beta1, adam.beta2, adam.one_minus_beta2, adam.corrected_rate,
                     adam.root_correction, adam.eps});
  }
  if (!a.adam || declaring_paths()) {
    const LaunchPart part("SGD");
    launch_step(stream, a, Sgd{sgd.rate, sgd.mu, sgd.one_minus_dampening, sgd.nesterov});
  }
}

const RegisterKernel registered("clip_decay_step", {.variant = "multi_tensor"}, clip_decay_step, KernelUse::when_named);

}  // namespace
}  // namespace tally::clip_decay_step_kernel
