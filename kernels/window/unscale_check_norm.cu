// One pass over the summed gradients of all parameters: found |= 1 where an element is not finite, (scaler.1) as
// kernels/window/unscale.cu, and the norm of all out, (clip.1); the stages overflow_check, unscale and norm fused.
//
//   in [tensors][elements] fp32 (buffers, A) or S   out [tensors][elements] fp32
//   inverse_scale [] fp32   found [] u32   partial [chunks] fp32   norm [] fp32
//
// One block a chunk (kernels/window/tensor_chunks.hpp). A block's part of the norm is reduced as in
// kernels/window/norm.cu, in registers: the same additions in the same order, so the same bits; then one block over all
// chunks. The flag is set by an integer atomic. Where no norm is asked for, or no flag, nothing is done for it.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/window/block_shuffles.hpp"
#include "kernels/window/chunk_turns.hpp"
#include "kernels/window/multi_tensor_arguments.hpp"
#include "kernels/window/two_stage_norm.hpp"

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
