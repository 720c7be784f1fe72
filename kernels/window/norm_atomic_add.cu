// The norm over all parameters, (clip.1), by atomics, of the three kinds of kernels/window/norm.cu.
//
//   sources [tensors][elements] fp32   norm [] fp32
//
// One block a chunk (kernels/window/norm_chunks.hpp), reduced by shuffles (kernels/reduction/block_sum.hpp) and added
// to the norm by one atomicAdd: chunks in whatever order their blocks end, so two runs may differ in bits, and
// subnormal sums are flushed. The largest magnitude is taken on the bits of the number, which grow with it and are
// largest for NaN: exact in every order. Then one thread finishes.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "kernels/window/norm_chunks.hpp"

namespace tally::norm_atomic_add_kernel {
namespace {

template <class Reduction>
__device__ void combine_into(float* norm, float value) {
  atomicAdd(norm, value);
}
template <>
__device__ void combine_into<LargestMagnitude>(float* norm, float value) {
  atomicMax(reinterpret_cast<unsigned*>(norm), __float_as_uint(value) & 0x7fffffffu);
}

__global__ void clear(float* norm) { *norm = 0.0f; }

template <class Reduction>
__global__ void add_chunk(NormChunks chunks, float* norm) {
  TALLY_SHARED(float, partial, most_warps);
  const float value = block_result(thread_value<Reduction>(chunks), 0.0f, Reduction{}, partial);
  if (threadIdx.x == 0) combine_into<Reduction>(norm, value);
}

template <class Reduction>
__global__ void finish(float* norm) {
  *norm = Reduction::finish(*norm);
}

void norm(Stream& stream, const NormArguments& a) {
  by_norm_kind(a.kind, [&]<class Reduction>() {
    launch<clear>(stream, {1, 1}, a.norm);
    for_each_launch(a.sources, [&](const NormChunks& of_batch, const TensorBatch& batch) {
      launch<add_chunk<Reduction>>(stream, shape_of(batch), of_batch, a.norm);
    });
    launch<finish<Reduction>>(stream, {1, 1}, a.norm);
  });
}

const RegisterKernel registered("norm",
                                {.variant = "atomic_add",
                                 .repeats = Repeats::within_claim,
                                 .global_float_atomics = true,
                                 .additions = norm_additions({})},
                                norm, KernelUse::when_named);

}  // namespace
}  // namespace tally::norm_atomic_add_kernel
