// The offsets of a multi-tensor launch, on tables alone: no memory stands behind the tensors.
#include "kernels/window/tensor_chunks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tally::tensor_chunks_test {
namespace {

std::vector<TensorBatch> batches_of(const std::vector<std::int64_t>& sizes, std::int64_t* chunks = nullptr) {
  std::vector<TensorBatch> batches;
  const std::int64_t all = for_each_batch(
      sizes.size(), [&](std::size_t i) { return sizes[i]; },
      [&](const TensorBatch& batch) { batches.push_back(batch); });
  if (chunks != nullptr) *chunks = all;
  return batches;
}

TEST(TensorChunks, CoverEveryElementOnceAtOddSizes) {
  const std::vector<std::int64_t> sizes{1, 4095, 0, 4096, 4097, 3, 0, 12289};
  std::int64_t chunks = 0;
  const auto batches = batches_of(sizes, &chunks);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(chunks, 1 + 1 + 1 + 2 + 1 + 4);
  std::vector<std::int64_t> covered(sizes.size());
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const ChunkRange range = batches[0].table.range(chunk);
    const std::size_t tensor = batches[0].which[static_cast<std::size_t>(range.tensor)];
    EXPECT_EQ(range.begin, covered[tensor]) << "chunk " << chunk;  // where the one before ended
    EXPECT_GT(range.end, range.begin) << "chunk " << chunk;
    covered[tensor] = range.end;
  }
  EXPECT_EQ(covered, sizes);
}

TEST(TensorChunks, ReachBeyondTwoToTheThirtyFirstElement) {
  constexpr std::int64_t large = (std::int64_t{1} << 33) + 5;
  const TensorBatch batch = batches_of({7, large, 9})[0];
  EXPECT_EQ(batch.chunks, 1 + (large + 4095) / 4096 + 1);
  const std::int64_t last = batch.chunks - 2;
  EXPECT_EQ(batch.table.range(last).tensor, 1);
  EXPECT_EQ(batch.table.range(last).begin, large - 5);
  EXPECT_EQ(batch.table.range(last).end, large);
  EXPECT_EQ(batch.table.range(1 + (std::int64_t{1} << 19)).begin, std::int64_t{1} << 31);
  EXPECT_EQ(batch.table.range(batch.chunks - 1).tensor, 2);
  EXPECT_EQ(batch.table.range(batch.chunks - 1).begin, 0);
  EXPECT_EQ(batch.table.range(batch.chunks - 1).end, 9);
}

TEST(TensorChunks, SpanLaunchesAndCountTheChunksBefore) {
  const auto batches = batches_of(std::vector<std::int64_t>(50, 5000));
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[1].table.tensors, tensors_a_launch);
  EXPECT_EQ(batches[1].done, 2 * tensors_a_launch);
  EXPECT_EQ(batches[2].table.tensors, 2);
  EXPECT_EQ(batches[2].which[1], 49u);
}

TEST(TensorChunks, LaunchNothingForEmptyTensors) { EXPECT_TRUE(batches_of({0, 0, 0}).empty()); }

}  // namespace
}  // namespace tally::tensor_chunks_test
