#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "tests/kernels/device/on_executor.hpp"

namespace tally::warp_test {
namespace {

using Lanes = std::array<int, 32>;

enum class Move { to, up, down, exclusive };

template <Move move, int operand, int width>
__global__ void shuffle_lanes(int* out) {
  const auto lane = static_cast<int>(threadIdx.x);
  if constexpr (move == Move::to) out[lane] = __shfl_sync(0xffffffffu, lane, operand, width);
  if constexpr (move == Move::up) out[lane] = __shfl_up_sync(0xffffffffu, lane, operand, width);
  if constexpr (move == Move::down) out[lane] = __shfl_down_sync(0xffffffffu, lane, operand, width);
  if constexpr (move == Move::exclusive) out[lane] = __shfl_xor_sync(0xffffffffu, lane, operand, width);
}

template <Move move, int operand, int width>
Lanes shuffled(std::uint64_t seed) {
  Lanes out{};
  run_on_host<shuffle_lanes<move, operand, width>>({1, 32}, seed, out.data());
  return out;
}

template <class Source>
Lanes lanes_from(Source source) {
  Lanes out{};
  for (int lane = 0; lane < 32; ++lane) out[lane] = source(lane);
  return out;
}

TEST(Shuffles, MoveValuesAsTheirManualSays) {
  for (const std::uint64_t seed : schedules(3)) {
    EXPECT_EQ((shuffled<Move::to, 5, 32>(seed)), lanes_from([](int) { return 5; }));
    EXPECT_EQ((shuffled<Move::to, 35, 8>(seed)), lanes_from([](int lane) { return lane / 8 * 8 + 3; }));
    EXPECT_EQ((shuffled<Move::up, 3, 32>(seed)), lanes_from([](int lane) { return lane < 3 ? lane : lane - 3; }));
    EXPECT_EQ((shuffled<Move::up, 3, 8>(seed)), lanes_from([](int lane) { return lane % 8 < 3 ? lane : lane - 3; }));
    EXPECT_EQ((shuffled<Move::down, 4, 32>(seed)), lanes_from([](int lane) { return lane > 27 ? lane : lane + 4; }));
    EXPECT_EQ((shuffled<Move::down, 4, 16>(seed)),
              lanes_from([](int lane) { return lane % 16 > 11 ? lane : lane + 4; }));
    EXPECT_EQ((shuffled<Move::exclusive, 1, 32>(seed)), lanes_from([](int lane) { return lane ^ 1; }));
    EXPECT_EQ((shuffled<Move::exclusive, 16, 16>(seed)),
              lanes_from([](int lane) { return lane < 16 ? lane : lane ^ 16; }));
  }
}

__global__ void vote(unsigned* out) {
  const unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x % 2);
  const bool some = __any_sync(0xffffffffu, threadIdx.x == 7), every = __all_sync(0xffffffffu, threadIdx.x != 7);
  if (threadIdx.x == 31) out[0] = odd, out[1] = some, out[2] = every;
}

TEST(Votes, CountEveryLane) {
  unsigned out[3] = {};

  run_on_host<vote>({1, 32}, 0, out);

  EXPECT_EQ(out[0], 0xaaaaaaaau);
  EXPECT_EQ(out[1], 1u);
  EXPECT_EQ(out[2], 0u);
}

/// Two halves of a warp go separate ways, each under its own mask.
__global__ void halves(double* out) {
  const unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  double sum = threadIdx.x;
  for (int bits = 8; bits > 0; bits /= 2) sum += __shfl_xor_sync(mask, sum, bits);
  out[threadIdx.x] = sum;
}

TEST(PartialMasks, LetGroupsOfLanesWorkApart) {
  for (const std::uint64_t seed : schedules(20)) {
    std::array<double, 32> out{};
    run_on_host<halves>({1, 32}, seed, out.data());
    for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 16 ? 120 : 376) << "lane " << lane;
  }
}

__global__ void from_lane_outside(float* out) {
  if (threadIdx.x < 4) out[threadIdx.x] = __shfl_down_sync(0x0000000fu, 1.0f, 4);
}

TEST(PartialMasks, GivePoisonFromALaneThatTakesNoPart) {
  float out[4] = {};

  run_on_host<from_lane_outside>({1, 32}, 0, out);

  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

__global__ void early_return(int* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), 19);
}

TEST(PartialMasks, CountReturnedAndMissingLanesAsArrived) {
  for (const std::uint64_t seed : schedules(10)) {
    for (const unsigned threads : {32u, 24u, 20u}) {
      std::array<int, 20> out{};
      run_on_host<early_return>({1, threads}, seed, out.data());
      for (const int value : out) EXPECT_EQ(value, 19);
    }
  }
}

__global__ void different_collectives(int* out) {
  if (threadIdx.x % 2 == 0) {
    *out = __shfl_sync(0xffffffffu, 1, 0);
  } else {
    *out = static_cast<int>(__ballot_sync(0xffffffffu, 1));
  }
}

TEST(DivergentWarps, AreFoundWithBothCalls) {
  for (const std::uint64_t seed : schedules(5)) {
    int out = 0;
    const std::string finding = finding_in<different_collectives>({1, 32}, seed, &out);
    EXPECT_TRUE(contains(finding, "divergent warp")) << finding;
    EXPECT_TRUE(contains(finding, "__shfl_sync at ") && contains(finding, "__ballot_sync at ")) << finding;
  }
}

__global__ void not_in_mask() { __syncwarp(0x0000fffeu); }

TEST(DivergentWarps, AreFoundWhenTheCallerIsNotInItsMask) {
  const std::string finding = finding_in<not_in_mask>({1, 16}, 0);

  EXPECT_TRUE(contains(finding, "lane 0 is not in its own mask")) << finding;
}

__global__ void half_waits() {
  if (threadIdx.x < 16) __syncwarp();
  __syncthreads();
}

TEST(Deadlocks, AreFoundWithEveryWaitingThreadAndItsLine) {
  for (const std::uint64_t seed : schedules(5)) {
    const std::string finding = finding_in<half_waits>({1, 32}, seed);
    EXPECT_TRUE(contains(finding, "deadlock: ")) << finding;
    EXPECT_TRUE(contains(finding, "threads 16-31 in __syncthreads at ")) << finding;
    EXPECT_TRUE(contains(finding, "threads 0-15 in __syncwarp at ")) << finding;
    EXPECT_TRUE(contains(finding, "for threads 16-31")) << finding;
  }
}

}  // namespace
}  // namespace tally::warp_test
