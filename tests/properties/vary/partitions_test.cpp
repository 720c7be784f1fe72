#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "properties/diagnosis/vary/runs.hpp"

namespace tally::partitions_test {
namespace {

VaryRuns runs_of(std::int64_t rows, std::uint64_t seed) {
  VaryRuns runs;
  runs.rows = rows, runs.seed = seed, runs.precisions = {"float64", "float32"};
  return runs;
}

TEST(Partitions, HoldAllRowsEachOnceInMoreThanOneMicroBatch) {
  for (std::int64_t rows = 2; rows <= 40; ++rows) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto all = partitions_of(runs_of(rows, seed));
      EXPECT_FALSE(all.empty());
      EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
      for (const Partition& sizes : all) {
        EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), rows);
        EXPECT_GT(sizes.size(), 1u);
        EXPECT_GE(*std::ranges::min_element(sizes), 1);
      }
    }
  }
}

TEST(Partitions, AreEqualShortUnevenAndSingle) {
  const auto all = partitions_of(runs_of(8, 0));
  const auto has = [&](const Partition& sizes) { return std::ranges::find(all, sizes) != all.end(); };

  EXPECT_TRUE(has({4, 4}) && has({2, 2, 2, 2}) && has({3, 3, 2}) && has({1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_GT(std::ranges::count_if(all, [](const Partition& sizes) { return !is_equal(sizes); }), 1);
}

TEST(Partitions, AreDrawnFromTheSeed) {
  std::set<std::vector<Partition>> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(partitions_of(runs_of(32, seed)), partitions_of(runs_of(32, seed)));
    seen.insert(partitions_of(runs_of(32, seed)));
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST(Partitions, OfALoopOfOneBatchSizeAreEqualTheCoarsestFirst) {
  VaryRuns runs = runs_of(12, 0);
  runs.equal_only = true;

  EXPECT_EQ(partitions_of(runs),
            (std::vector<Partition>{{6, 6}, {4, 4, 4}, {3, 3, 3, 3}, Partition(6, 2), Partition(12, 1)}));
}

Partition on_ranks(int ranks, Partition sizes) {
  sizes.ranks = ranks;
  return sizes;
}

TEST(Partitions, AreDealtToRanksBehindThoseOfOne) {
  VaryRuns runs = runs_of(12, 0);
  const auto of_one = partitions_of(runs);
  runs.nproc = {1, 2, 4, 5};
  auto all = partitions_of(runs);

  EXPECT_TRUE(std::equal(of_one.begin(), of_one.end(), all.begin()));
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(of_one.size()));
  EXPECT_EQ(all, (std::vector<Partition>{on_ranks(2, {6, 6}), on_ranks(2, {3, 3, 3, 3}), on_ranks(4, {3, 3, 3, 3})}));
}

TEST(Partitions, GetCoarserByTwoNeighboursAndEndAtTwo) {
  EXPECT_EQ(coarser({3, 3, 2}), (std::vector<Partition>{{6, 2}, {3, 5}}));
  EXPECT_TRUE(coarser({6, 2}).empty());
  EXPECT_TRUE(coarser(on_ranks(2, {2, 2, 2, 2})).empty());
}

}  // namespace
}  // namespace tally::partitions_test
