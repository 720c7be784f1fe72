#include "kernels/device/host/atomics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/device/on_executor.hpp"

namespace tally::atomics_test {
namespace {

__global__ void count(int* sum, unsigned* largest, unsigned long long* wide, unsigned* bits) {
  atomicAdd(sum, static_cast<int>(threadIdx.x));
  atomicMax(largest, threadIdx.x);
  atomicAdd(wide, 1ull << 33);
  __syncthreads();
  atomicOr(bits, 1u << threadIdx.x % 32);
}

TEST(Atomics, LoseNothing) {
  for (const std::uint64_t seed : schedules(5)) {
    int sum = 0;
    unsigned largest = 0, bits = 0;
    unsigned long long wide = 0;
    run_on_host<count>({2, 64}, seed, &sum, &largest, &wide, &bits);
    EXPECT_EQ(sum, 2 * 63 * 64 / 2);
    EXPECT_EQ(largest, 63u);
    EXPECT_EQ(wide, 128ull << 33);
    EXPECT_EQ(bits, 0xffffffffu);
  }
}

TEST(Atomics, ReturnTheOldValue) {
  int value = 5;

  EXPECT_EQ(atomicExch(&value, 7), 5);
  EXPECT_EQ(atomicCAS(&value, 5, 9), 7);
  EXPECT_EQ(atomicCAS(&value, 7, 9), 7);
  EXPECT_EQ(atomicMin(&value, 3), 9);
  EXPECT_EQ(atomicAdd(&value, 1), 3);
  EXPECT_EQ(value, 4);
}

/// Adds `addend` to a sum in shared memory and to one in global memory.
__global__ void add_twice(float start, float addend, float* out) {
  TALLY_SHARED(float, sum, 1);
  sum[0] = start;
  out[1] = start;
  atomicAdd(&sum[0], addend);
  atomicAdd(&out[1], addend);
  out[0] = sum[0];
}

TEST(AtomicFloatAddition, FlushesSubnormalsInGlobalMemoryOnly) {
  constexpr float subnormal = 0x1p-130f, normal = 0x1p-126f;
  float out[2] = {};

  run_on_host<add_twice>({1, 1}, 0, 0.0f, subnormal, out);
  EXPECT_EQ(out[0], subnormal);
  EXPECT_EQ(out[1], 0.0f);

  run_on_host<add_twice>({1, 1}, 0, subnormal, normal, out);
  EXPECT_EQ(out[0], subnormal + normal);
  EXPECT_EQ(out[1], normal);

  run_on_host<add_twice>({1, 1}, 0, -1.5f * normal, normal, out);
  EXPECT_EQ(out[0], -0.5f * normal);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_TRUE(std::signbit(out[1]));
}

/// A sum whose last bits depend on the order of the threads.
__global__ void scatter(const float* x, float* sum) {
  if (threadIdx.x % 32 == 0) __syncwarp(1u);
  atomicAdd(sum, x[threadIdx.x]);
}

TEST(AtomicFloatAddition, TakesTheOrderOfTheSchedule) {
  std::vector<float> x(256);
  for (int i = 0; i < 256; ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  std::vector<float> sums;
  for (const std::uint64_t seed : schedules(20)) {
    float sum = 0;
    run_on_host<scatter>({1, 256}, seed, x.data(), &sum);
    sums.push_back(sum);
  }

  const auto differs = [&](float sum) { return sum != sums.front(); };
  EXPECT_TRUE(std::any_of(sums.begin(), sums.end(), differs));
}

}  // namespace
}  // namespace tally::atomics_test
