// Right and wrong: what blocks of a launch may know of each other: atomics, and fences that let an atomic hand memory
// on.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "tests/kernels/checker/device_faults.hpp"

namespace tally::grid_faults {
namespace {

constexpr unsigned threads = 64;

/// out[0] = sum of all elements: the block that comes last adds what the others left.
template <bool right>
__global__ void grid_sum(const float* in, float* out, unsigned* counters, std::int64_t elements) {
  TALLY_SHARED(float, partial, threads);
  TALLY_SHARED(unsigned, ticket, 1);
  const std::int64_t i = first_element();
  partial[threadIdx.x] = i < elements ? in[i] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (unsigned t = 0; t < threads; ++t) sum = __fadd_rn(sum, partial[t]);
    out[1 + blockIdx.x] = sum;
    if (right) __threadfence();
    ticket[0] = atomicAdd(counters, 1u);
  }
  __syncthreads();
  if (ticket[0] + 1 != gridDim.x || threadIdx.x != 0) return;
  float sum = 0.0f;
  for (unsigned block = 0; block < gridDim.x; ++block) sum = __fadd_rn(sum, out[1 + block]);
  out[0] = sum;
}

/// out[bin] = sum of the elements that fall into it.
template <bool right>
__global__ void scatter(const float* in, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i >= elements) return;
  float* bin = out + static_cast<int>(in[i]) % 4;
  if (right) {
    atomicAdd(bin, in[i]);
  } else {
    *bin += in[i];
  }
}

/// Two threads write the same element without any order, but only where the later one drew its ticket first.
template <bool right>
__global__ void race_of_tickets(float* out, unsigned* counters) {
  const unsigned t = threadIdx.x;
  if (t != 3 && t != 50) return;
  const unsigned ticket = atomicAdd(counters, 1u);
  if ((t == 50) != (ticket == 0)) return;
  if (right) {
    atomicExch(&out[0], static_cast<float>(t));
  } else {
    out[0] = static_cast<float>(t);
  }
}

/// out = in, and from element 201 on in too of 150 before; the wrong one takes that from where another block wrote it.
template <bool right>
__global__ void add_earlier(const float* in, float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i >= elements) return;
  const float* earlier = right ? in : out;
  out[i] = i > 200 ? __fadd_rn(in[i], earlier[i - 150]) : in[i];
}

__global__ void clear(float* out, std::int64_t elements) {
  const std::int64_t i = first_element();
  if (i < elements) out[i] = 0.0f;
}

unsigned blocks_for(std::int64_t elements) { return static_cast<unsigned>((elements + threads - 1) / threads); }

template <bool right>
void launch_grid_sum(Stream& stream, const DeviceFaultArguments& a) {
  launch<grid_sum<right>>(stream, {blocks_for(a.elements), threads}, a.in, a.out, a.counters, a.elements);
}

template <bool right>
void launch_scatter(Stream& stream, const DeviceFaultArguments& a) {
  launch<clear>(stream, {blocks_for(a.elements), threads}, a.out, a.elements);
  launch<scatter<right>>(stream, {blocks_for(a.elements), threads}, a.in, a.out, a.elements);
}

template <bool right>
void launch_race_of_tickets(Stream& stream, const DeviceFaultArguments& a) {
  launch<clear>(stream, {blocks_for(a.elements), threads}, a.out, a.elements);
  launch<race_of_tickets<right>>(stream, {1, threads}, a.out, a.counters);
}

template <bool right>
void launch_add_earlier(Stream& stream, const DeviceFaultArguments& a) {
  launch<add_earlier<right>>(stream, {blocks_for(a.elements), threads}, a.in, a.out, a.elements);
}

const RegisterKernel registered_faults[] = {
    {"device_fault.add_earlier", {.variant = "right"}, launch_add_earlier<true>},
    {"device_fault.add_earlier", {.variant = "~wrong"}, launch_add_earlier<false>},
    {"device_fault.race_of_tickets", {.variant = "right"}, launch_race_of_tickets<true>},
    {"device_fault.race_of_tickets", {.variant = "~wrong"}, launch_race_of_tickets<false>},
    {"device_fault.grid_sum", {.variant = "right"}, launch_grid_sum<true>},
    {"device_fault.grid_sum", {.variant = "~wrong"}, launch_grid_sum<false>},
    {"device_fault.scatter", {.variant = "right"}, launch_scatter<true>},
    {"device_fault.scatter", {.variant = "~wrong"}, launch_scatter<false>},
};

}  // namespace
}  // namespace tally::grid_faults
