// The kernels of executor_benchmark.cpp, for every executor.
#include "kernels/device/kernel_registry.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/reduction/block_sum.hpp"
#include "tests/benchmarks/executor_kernels.hpp"

namespace tally {
namespace {

using benchmarks::ExecutorWork;

constexpr unsigned threads = 256, tile = 16;

__global__ void no_barrier(const float* in, float* out) {
  const std::int64_t i = first_element();
  out[i] = __fmul_rn(in[i], 2.0f);
}

__global__ void some_barriers(const float* in, float* out, int barriers) {
  const std::int64_t i = first_element();
  for (int n = 0; n < barriers; ++n) __syncthreads();
  out[i] = __fmul_rn(in[i], 2.0f);
}

__global__ void block_sum(const float* in, float* out) {
  TALLY_SHARED(float, partial, most_warps);
  const auto add = [](float a, float b) { return __fadd_rn(a, b); };
  const float sum = block_result(in[first_element()], 0.0f, add, partial);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// out = in in, square matrices of `size`, a multiple of the tile.
__global__ void tiled_product(const float* in, float* out, int size) {
  TALLY_SHARED(float, left, tile, tile);
  TALLY_SHARED(float, right, tile, tile);
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * tile + y, column = blockIdx.x * tile + x, n = static_cast<unsigned>(size);
  float sum = 0.0f;
  for (unsigned first = 0; first < n; first += tile) {
    left[y][x] = in[row * n + first + x];
    right[y][x] = in[(first + y) * n + column];
    __syncthreads();
    for (unsigned k = 0; k < tile; ++k) sum = __fmaf_rn(left[y][k], right[k][x], sum);
    __syncthreads();
  }
  out[row * n + column] = sum;
}

unsigned blocks_of(const ExecutorWork& work) { return static_cast<unsigned>(work.elements / threads); }

void launch_no_barrier(Stream& stream, const ExecutorWork& work) {
  launch<no_barrier>(stream, {blocks_of(work), threads}, work.in, work.out);
}
void launch_some_barriers(Stream& stream, const ExecutorWork& work) {
  launch<some_barriers>(stream, {blocks_of(work), threads}, work.in, work.out, work.barriers);
}
void launch_block_sum(Stream& stream, const ExecutorWork& work) {
  launch<block_sum>(stream, {blocks_of(work), threads}, work.in, work.out);
}
void launch_tiled_product(Stream& stream, const ExecutorWork& work) {
  unsigned size = tile;
  while (4 * size * size <= work.elements) size *= 2;
  launch<tiled_product>(stream, {dim3(size / tile, size / tile), dim3(tile, tile)}, work.in, work.out,
                        static_cast<int>(size));
}

const RegisterKernel registered_work[] = {
    {"bench.no_barrier", {.variant = "plain"}, launch_no_barrier},
    {"bench.some_barriers", {.variant = "plain"}, launch_some_barriers},
    {"bench.block_sum", {.variant = "plain"}, launch_block_sum},
    {"bench.tiled_product", {.variant = "plain"}, launch_tiled_product},
};

}  // namespace
}  // namespace tally
