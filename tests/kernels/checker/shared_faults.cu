// Right and wrong: shared memory, and indices.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "tests/kernels/checker/device_faults.hpp"

namespace tally::shared_faults {
namespace {

constexpr unsigned threads = 64, warps = threads / 32;

/// out[block] = sum of the block's elements, by a tree in shared memory.
template <bool right>
__global__ void block_sum(const float* in, float* out, std::int64_t elements) {
  TALLY_SHARED(float, partial, threads);
  const std::int64_t i = first_element();
  partial[threadIdx.x] = i < elements ? in[i] : 0.0f;
  if (right) __syncthreads();
  for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) partial[threadIdx.x] = __fadd_rn(partial[threadIdx.x], partial[threadIdx.x + distance]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

/// out = in, reversed within the pieces a block takes one after another through the same shared memory.
template <bool right>
__global__ void reverse_pieces(const float* in, float* out, std::int64_t elements) {
  TALLY_SHARED(float, piece, threads);
  for (std::int64_t first = 0; first + threads <= elements; first += threads) {
    piece[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    out[first + threadIdx.x] = piece[threads - 1 - threadIdx.x];
    if (right) __syncthreads();
  }
}

/// out[bin] = how many elements fall into it, counted in shared memory.
template <bool right>
__global__ void histogram(const float* in, float* out, std::int64_t elements) {
  TALLY_SHARED(int, bins, 16);
  if (right && threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < elements; i += blockDim.x) atomicAdd(&bins[static_cast<int>(in[i]) % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = static_cast<float>(bins[threadIdx.x]);
}

/// out = 2 in; the wrong one writes the whole last block.
template <bool right>
__global__ void scale(const float* in, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (!right || i < elements) out[i] = __fmul_rn(2.0f, i < elements ? in[i] : 0.0f);
}

/// out = difference to the next element; the wrong one reads one behind the last.
template <bool right>
__global__ void differences(const float* in, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i < elements) out[i] = __fsub_rn(right && i + 1 == elements ? 0.0f : in[i + 1], in[i]);
}

unsigned blocks_for(std::int64_t elements) { return static_cast<unsigned>((elements + threads - 1) / threads); }

template <auto kernel>
void on_blocks(Stream& stream, const DeviceFaultArguments& a) {
  launch<kernel>(stream, {blocks_for(a.elements), threads}, a.in, a.out, a.elements);
}

template <auto kernel>
void on_one_block(Stream& stream, const DeviceFaultArguments& a) {
  launch<kernel>(stream, {1, threads}, a.in, a.out, a.elements);
}

const RegisterKernel registered_faults[] = {
    {"device_fault.block_sum", {.variant = "right"}, on_blocks<block_sum<true>>},
    {"device_fault.block_sum", {.variant = "~wrong"}, on_blocks<block_sum<false>>},
    {"device_fault.reverse_pieces", {.variant = "right"}, on_one_block<reverse_pieces<true>>},
    {"device_fault.reverse_pieces", {.variant = "~wrong"}, on_one_block<reverse_pieces<false>>},
    {"device_fault.histogram", {.variant = "right"}, on_one_block<histogram<true>>},
    {"device_fault.histogram", {.variant = "~wrong"}, on_one_block<histogram<false>>},
    {"device_fault.scale", {.variant = "right"}, on_blocks<scale<true>>},
    {"device_fault.scale", {.variant = "~wrong"}, on_blocks<scale<false>>},
    {"device_fault.differences", {.variant = "right"}, on_blocks<differences<true>>},
    {"device_fault.differences", {.variant = "~wrong"}, on_blocks<differences<false>>},
};

}  // namespace
}  // namespace tally::shared_faults
