#include <gtest/gtest.h>

#include <vector>

#include "kernels/device/cooperative_groups.hpp"
#include "tests/kernels/device/on_executor.hpp"

namespace tally::groups_test {
namespace {

namespace groups = cooperative_groups;

struct Places {
  unsigned rank, size, tile, tiles, in_block, block_size;
  friend bool operator==(const Places&, const Places&) = default;
};

template <unsigned tile_size>
__global__ void note_places(Places* out) {
  const groups::thread_block block = groups::this_thread_block();
  const auto tile = groups::tiled_partition<tile_size>(block);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[thread] = {tile.thread_rank(),     tile.size(),         tile.meta_group_rank(),
                 tile.meta_group_size(), block.thread_rank(), block.size()};
}

template <unsigned tile_size>
void expect_places(dim3 threads) {
  const unsigned count = threads.x * threads.y * threads.z;
  std::vector<Places> out(count);
  run_on_host<note_places<tile_size>>({1, threads}, 0, out.data());
  for (unsigned t = 0; t < count; ++t) {
    EXPECT_EQ(out[t], (Places{t % tile_size, tile_size, t / tile_size, (count + tile_size - 1) / tile_size, t, count}));
  }
}

TEST(Tiles, CountThreadsInOrderOfXThenYThenZ) {
  expect_places<32>(96);
  expect_places<8>(dim3(5, 4, 3));
  expect_places<1>(7);
}

enum class Move { to, up, down, exclusive };

template <unsigned tile_size, Move move, unsigned operand>
__global__ void move_values(int* out) {
  const auto tile = groups::tiled_partition<tile_size>(groups::this_thread_block());
  const auto mine = static_cast<int>(threadIdx.x);
  if constexpr (move == Move::to) out[mine] = tile.shfl(mine, operand);
  if constexpr (move == Move::up) out[mine] = tile.shfl_up(mine, operand);
  if constexpr (move == Move::down) out[mine] = tile.shfl_down(mine, operand);
  if constexpr (move == Move::exclusive) out[mine] = tile.shfl_xor(mine, operand);
}

template <unsigned tile_size, Move move, unsigned operand, class Source>
void expect_moved(Source source) {
  for (const std::uint64_t seed : schedules(5)) {
    std::vector<int> out(64);
    run_on_host<move_values<tile_size, move, operand>>({1, 64}, seed, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[static_cast<std::size_t>(t)], source(t)) << t << ", schedule " << seed;
  }
}

TEST(Tiles, MoveValuesWithinTheTile) {
  expect_moved<8, Move::to, 3>([](int t) { return t / 8 * 8 + 3; });
  expect_moved<16, Move::up, 5>([](int t) { return t % 16 < 5 ? t : t - 5; });
  expect_moved<4, Move::down, 1>([](int t) { return t % 4 == 3 ? t : t + 1; });
  expect_moved<32, Move::exclusive, 16>([](int t) { return t ^ 16; });
}

struct Votes {
  int any, all;
  unsigned ballot;
};

__global__ void vote(Votes* out) {
  const auto tile = groups::tiled_partition<8>(groups::tiled_partition<16>(groups::this_thread_block()));
  const unsigned t = threadIdx.x;
  const Votes mine{tile.any(t == 9), tile.all(t != 9), tile.ballot(t % 3 == 0)};
  out[t] = mine;
}

TEST(Tiles, VoteApartAndCountFromTheirFirstThread) {
  std::vector<Votes> out(32);
  for (const std::uint64_t seed : schedules(5)) {
    run_on_host<vote>({1, 32}, seed, out.data());
    for (unsigned t = 0; t < 32; ++t) {
      const bool with_nine = t / 8 == 1;
      unsigned threes = 0;
      for (unsigned rank = 0; rank < 8; ++rank) threes |= ((t / 8 * 8 + rank) % 3 == 0 ? 1u : 0u) << rank;
      EXPECT_EQ(out[t].any != 0, with_nine);
      EXPECT_EQ(out[t].all != 0, !with_nine);
      EXPECT_EQ(out[t].ballot, threes);
    }
  }
}

__global__ void diverge() {
  const auto tile = groups::tiled_partition<4>(groups::this_thread_block());
  if (tile.meta_group_rank() != 2) return;
  if (tile.thread_rank() == 1) tile.sync();
  tile.any(1);
}

TEST(Tiles, ThatDivergeAreFound) {
  const std::string finding = finding_in<diverge>({1, 32}, 0);
  EXPECT_TRUE(contains(finding, "divergent warp")) << finding;
  EXPECT_TRUE(contains(finding, "groups_test.cpp:")) << finding;
}

__global__ void wait_apart() {
  const groups::thread_block block = groups::this_thread_block();
  if (threadIdx.x < 7) block.sync();
  groups::sync(block);
}

TEST(Blocks, ThatDivergeAreFound) {
  const std::string finding = finding_in<wait_apart>({1, 32}, 0);
  EXPECT_TRUE(contains(finding, "divergent barrier")) << finding;
}

}  // namespace
}  // namespace tally::groups_test
