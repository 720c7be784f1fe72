#include <gtest/gtest.h>

#include "tests/kernels/device/on_executor.hpp"

namespace tally::barrier_test {
namespace {

/// out[block] = sum of x over the block: shuffles in every warp, then in warp 0 alone.
__global__ void block_sum(const int* x, int* out) {
  TALLY_SHARED(int, partial, 32);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  int sum = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < warps ? partial[lane] : 0;
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// out = in, reversed within the block. Without its barrier, threads read what is not written yet.
template <bool barrier>
__global__ void reverse(const float* in, float* out) {
  TALLY_SHARED(float, tile, 64);
  tile[threadIdx.x] = in[threadIdx.x];
  if constexpr (barrier) __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

constexpr int first_barrier = __LINE__ + 3, second_barrier = __LINE__ + 5;
__global__ void different_barriers() {
  if (threadIdx.x < 8) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void some_return_first(int* arrived) {
  if (threadIdx.x % 3 == 0) return;
  atomicAdd(arrived, 1);
  __syncthreads();
  if (*arrived != 42) *arrived = -1;  // of 64 threads, 22 returned
}

TEST(Barriers, LetABlockReduceThroughItsFirstWarp) {
  constexpr int threads = 256, blocks = 3;
  std::vector<int> x(threads * blocks), out(blocks);
  for (int i = 0; i < threads * blocks; ++i) x[i] = i * i % 101 - 50;

  for (const std::uint64_t seed : schedules(20)) {
    out.assign(blocks, 0);
    run_on_host<block_sum>({blocks, threads}, seed, x.data(), out.data());
    for (int block = 0; block < blocks; ++block) {
      int expected = 0;
      for (int i = 0; i < threads; ++i) expected += x[block * threads + i];
      EXPECT_EQ(out[block], expected) << "schedule " << seed;
    }
  }
}

TEST(Barriers, OrderSharedMemoryUnderEverySchedule) {
  std::vector<float> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
  const std::vector<float> reversed(in.rbegin(), in.rend());

  for (const std::uint64_t seed : schedules(50)) {
    run_on_host<reverse<true>>({1, 64}, seed, in.data(), out.data());
    EXPECT_EQ(out, reversed) << "schedule " << seed;
  }
}

TEST(Barriers, LeavePoisonToReadWhereOneIsMissing) {
  std::vector<float> in(64, 1.0f), out(64);

  for (const std::uint64_t seed : schedules(50)) {
    run_on_host<reverse<false>>({1, 64}, seed, in.data(), out.data());
    EXPECT_NE(out, in) << "schedule " << seed;
  }
}

TEST(Barriers, AreFoundToDivergeWithBothLines) {
  for (const std::uint64_t seed : schedules(5)) {
    const std::string finding = finding_in<different_barriers>({1, 16}, seed);
    EXPECT_TRUE(contains(finding, "divergent barrier")) << finding;
    for (const int line : {first_barrier, second_barrier}) {
      EXPECT_TRUE(contains(finding, "barrier_test.cpp:" + std::to_string(line))) << finding;
    }
    EXPECT_TRUE(finding.starts_with("kernel different_barriers launched at ")) << finding;
  }
}

TEST(Barriers, DoNotWaitForThreadsThatReturned) {
  for (const std::uint64_t seed : schedules(10)) {
    int arrived = 0;
    run_on_host<some_return_first>({1, 64}, seed, &arrived);
    EXPECT_EQ(arrived, 42) << "schedule " << seed;
  }
}

}  // namespace
}  // namespace tally::barrier_test
