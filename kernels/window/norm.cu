// The norm over all parameters in two deterministic stages: 2: fl(sqrt(sum fl(g g))), 1: sum |g|, infinity: max |g|
// where a NaN wins.
//
//   sources [tensors][elements] fp32   partial [chunks] fp32   norm [] fp32
//
// First stage: one block a chunk of 4096 elements, up to 24 tensors a launch; thread t takes elements t, t + threads,
// ... of its chunk in order, then the block reduces as kernels/reduction/block_sum.hpp. Second stage: one block over
// all chunks in the same way. No atomics: the order depends on the sizes alone.
#include <algorithm>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "kernels/window/arguments.hpp"

namespace tally {
namespace {

struct SumOfSquares {
  static __device__ float term(float g) { return __fmul_rn(g, g); }
  __device__ float operator()(float a, float b) const { return __fadd_rn(a, b); }
  static __device__ float finish(float sum) { return __fsqrt_rn(sum); }
};

struct SumOfMagnitudes {
  static __device__ float term(float g) { return fabsf(g); }
  __device__ float operator()(float a, float b) const { return __fadd_rn(a, b); }
  static __device__ float finish(float sum) { return sum; }
};

struct LargestMagnitude {
  static __device__ float term(float g) { return fabsf(g); }
  __device__ float operator()(float a, float b) const { return a != a || a > b ? a : b; }
  static __device__ float finish(float largest) { return largest; }
};

constexpr int tensors_a_launch = 24;

/// The tensors of one launch; chunks are numbered through them, `first_chunk[i]` being tensor i's first.
struct Sources {
  const float* values[tensors_a_launch];
  std::int64_t elements[tensors_a_launch];
  std::int64_t first_chunk[tensors_a_launch];
  int tensors;
};

template <class Reduction>
__global__ void reduce_chunk(Sources sources, float* partial) {
  TALLY_SHARED(float, shared, most_warps);
  int tensor = 0;
  while (tensor + 1 < sources.tensors && sources.first_chunk[tensor + 1] <= static_cast<std::int64_t>(blockIdx.x)) {
    ++tensor;
  }
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) - sources.first_chunk[tensor]) * norm_chunk;
  const std::int64_t left = sources.elements[tensor] - begin;
  const std::int64_t end = begin + (left < norm_chunk ? left : norm_chunk);
  const Reduction combine;
  float value = 0.0f;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    value = combine(value, Reduction::term(sources.values[tensor][i]));
  }
  value = block_result(value, 0.0f, combine, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

template <class Reduction>
__global__ void reduce_partials(const float* partial, std::int64_t chunks, float* norm) {
  TALLY_SHARED(float, shared, most_warps);
  const Reduction combine;
  float value = 0.0f;
  for (std::int64_t i = threadIdx.x; i < chunks; i += blockDim.x) value = combine(value, partial[i]);
  value = block_result(value, 0.0f, combine, shared);
  if (threadIdx.x == 0) *norm = Reduction::finish(value);
}

/// Whole warps, no more than there is work for, at most 256 threads.
unsigned threads_for(std::int64_t elements) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((elements + 31) / 32 * 32, 32, 256));
}

template <class Reduction>
void two_stage(Stream& stream, const NormArguments& a) {
  std::int64_t done = 0;
  for (std::size_t next = 0; next < a.sources.size();) {
    Sources batch{};
    std::int64_t chunks = 0, largest = 0;
    for (; next < a.sources.size() && batch.tensors < tensors_a_launch; ++next) {
      const NormSource& source = a.sources[next];
      if (source.elements == 0) continue;
      batch.values[batch.tensors] = source.values;
      batch.elements[batch.tensors] = source.elements;
      batch.first_chunk[batch.tensors++] = chunks;
      chunks += (source.elements + norm_chunk - 1) / norm_chunk;
      largest = std::max(largest, source.elements);
    }
    if (chunks == 0) continue;
    launch<reduce_chunk<Reduction>>(stream, {static_cast<unsigned>(chunks), threads_for(largest)}, batch,
                                    a.partial + done);
    done += chunks;
  }
  launch<reduce_partials<Reduction>>(stream, {1, threads_for(done)}, a.partial, done, a.norm);
}

void norm(Stream& stream, const NormArguments& a) {
  switch (a.kind) {
    case NormKind::one:
      return two_stage<SumOfMagnitudes>(stream, a);
    case NormKind::two:
      return two_stage<SumOfSquares>(stream, a);
    case NormKind::infinity:
      return two_stage<LargestMagnitude>(stream, a);
  }
}

const RegisterKernel registered("norm", {.variant = "two_stage"}, norm);

}  // namespace
}  // namespace tally
