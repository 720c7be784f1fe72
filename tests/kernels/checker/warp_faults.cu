// Right and wrong: what lanes of a warp may take for granted: shuffles and votes order no memory.
#include "kernels/device/cooperative_groups.hpp"
#include "kernels/device/half.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "tests/kernels/checker/device_faults.hpp"

namespace tally::warp_faults {
namespace {

constexpr unsigned threads = 64, lanes = 32, whole = 0xffffffffu;

/// out[warp] = sum of the warp's elements, by a tree in shared memory.
template <bool right>
__global__ void warp_sum(const float* in, float* out, std::int64_t elements) {
  TALLY_SHARED(float, partial, threads);
  const unsigned t = threadIdx.x, lane = t % lanes;
  partial[t] = t < elements ? in[t] : 0.0f;
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
    if (right || distance < lanes / 2) __syncwarp();
    const float other = lane < distance ? partial[t + distance] : 0.0f;
    __syncwarp();
    if (lane < distance) partial[t] = __fadd_rn(partial[t], other);
  }
  if (lane == 0) out[t / lanes] = partial[t];
}

/// out = the neighbour's element, handed over in shared memory; the wrong one takes a vote for a barrier.
template <bool right>
__global__ void neighbour(const float* in, float* out) {
  TALLY_SHARED(float, handed, threads);
  const unsigned t = threadIdx.x;
  handed[t] = in[t];
  if (right) {
    __syncwarp();
  } else {
    __ballot_sync(whole, 1);
  }
  out[t] = handed[t ^ 1u];
}

/// The same in 16 bits, within half a warp at a time.
template <bool right>
__global__ void half_neighbour(const float* in, float* out) {
  TALLY_SHARED(half, handed, threads);
  const unsigned t = threadIdx.x, mask = t % lanes < 16 ? 0xffffu : 0xffff0000u;
  handed[t] = from_float<half>(in[t]);
  if (right) __syncwarp(mask);
  out[t] = to_float(handed[t ^ 3u]);
}

/// out = the sum of the neighbours in a tile of eight, the thread's own left out; each leaves its element in shared
/// memory.
template <bool right>
__global__ void tile_others(const float* in, float* out) {
  TALLY_SHARED(float, left, threads);
  const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
  const unsigned t = threadIdx.x;
  left[t] = in[t];
  if (right) {
    tile.sync();
  } else {
    tile.shfl(in[t], 0);
  }
  float sum = 0.0f;
  for (unsigned rank = 1; rank < tile.size(); ++rank) sum = __fadd_rn(sum, left[t ^ rank]);
  out[t] = sum;
}

template <auto kernel>
void on_one_block(Stream& stream, const DeviceFaultArguments& a) {
  launch<kernel>(stream, {1, threads}, a.in, a.out);
}

template <auto kernel>
void with_elements(Stream& stream, const DeviceFaultArguments& a) {
  launch<kernel>(stream, {1, threads}, a.in, a.out, a.elements);
}

const RegisterKernel registered_faults[] = {
    {"device_fault.warp_sum", {.variant = "right"}, with_elements<warp_sum<true>>},
    {"device_fault.warp_sum", {.variant = "~wrong"}, with_elements<warp_sum<false>>},
    {"device_fault.neighbour", {.variant = "right"}, on_one_block<neighbour<true>>},
    {"device_fault.neighbour", {.variant = "~wrong"}, on_one_block<neighbour<false>>},
    {"device_fault.tile_others", {.variant = "right"}, on_one_block<tile_others<true>>},
    {"device_fault.tile_others", {.variant = "~wrong"}, on_one_block<tile_others<false>>},
    {"device_fault.half_neighbour", {.variant = "right"}, on_one_block<half_neighbour<true>>},
    {"device_fault.half_neighbour", {.variant = "~wrong"}, on_one_block<half_neighbour<false>>},
};

}  // namespace
}  // namespace tally::warp_faults
