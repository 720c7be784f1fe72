#include "kernels/device/host/shared.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/device/executor/fibre.hpp"
#include "tests/kernels/device/on_executor.hpp"

namespace tally::shared_test {
namespace {

__global__ void beyond(int index) {
  TALLY_SHARED(float, tile, 4, 8);
  tile[1][index] = 1.0f;
}

TEST(SharedArrays, CheckEveryIndex) {
  EXPECT_EQ(finding_in<beyond>({1, 1}, 0, 7), "nothing found");
  for (const int index : {8, -1}) {
    const std::string finding = finding_in<beyond>({1, 1}, 0, index);
    EXPECT_TRUE(contains(finding, "thread (0, 0, 0)")) << finding;
    EXPECT_TRUE(contains(finding, "index " + std::to_string(index) + " of shared array 'tile', which has 8 elements"))
        << finding;
  }
}

__global__ void dynamic_beyond(int index) {
  TALLY_DYNAMIC_SHARED(double, memory);
  (memory + 2)[index] = 1.0;
}

TEST(DynamicSharedMemory, IsAsLongAsTheLaunchSays) {
  EXPECT_EQ(finding_in<dynamic_beyond>({1, 1, 4 * sizeof(double)}, 0, 1), "nothing found");
  EXPECT_EQ(finding_in<dynamic_beyond>({1, 1, 4 * sizeof(double)}, 0, -2), "nothing found");
  for (const int index : {2, -3}) {
    const std::string finding = finding_in<dynamic_beyond>({1, 1, 4 * sizeof(double)}, 0, index);
    EXPECT_TRUE(contains(finding, "of shared array 'memory', which has 4 elements")) << finding;
  }
}

/// Every block reads what it never wrote, then leaves numbers behind for the next.
__global__ void read_before_write(float* out) {
  TALLY_SHARED(float, tile, 3);
  TALLY_DYNAMIC_SHARED(float, memory);
  out[2 * blockIdx.x] = tile[1];
  out[2 * blockIdx.x + 1] = memory[1];
  tile[1] = memory[1] = 1.0f;
}

TEST(SharedMemory, IsPoisonedForEveryBlock) {
  float out[8] = {};

  run_on_host<read_before_write>({4, 1, 2 * sizeof(float)}, 0, out);

  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

template <int size>
__global__ void two_arrays(int* out) {
  TALLY_SHARED(int, first, size);
  TALLY_SHARED(int, second, size);
  first[threadIdx.x] = 1;
  second[threadIdx.x] = 2;
  __syncthreads();
  out[threadIdx.x] = first[size - 1 - threadIdx.x] * 10 + second[size - 1 - threadIdx.x];
}

TEST(SharedArrays, AreOneForTheBlockAndApartFromEachOther) {
  for (const std::uint64_t seed : schedules(3)) {
    int out[33] = {};
    run_on_host<two_arrays<33>>({1, 33}, seed, out);
    for (const int value : out) EXPECT_EQ(value, 12);
  }
}

/// Writes as far below its frame as a local array a kilobyte short of the whole stack would.
__global__ void overflow_stack() {
  auto* frame = static_cast<volatile char*>(__builtin_frame_address(0));
  *(frame - (executor::stack_bytes - 1000)) = 1;
}

TEST(Stacks, AreFoundToOverflow) {
  const std::string finding = finding_in<overflow_stack>({1, 1}, 0);

  EXPECT_TRUE(contains(finding, "overflowed its stack")) << finding;
  EXPECT_EQ(finding_in<beyond>({1, 1}, 0, 0), "nothing found");
}

}  // namespace
}  // namespace tally::shared_test
