// The sums of every algorithm against the order that its definition gives, bit for bit, on every rank.
#include "kernels/ranks/all_reduce.hpp"

#include <gtest/gtest.h>

#include <random>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/ranks/fibres.hpp"
#include "kernels/training_step/device_tensor.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/tolerance/rounded.hpp"
#include "oracle/window/rank_sums.hpp"

namespace tally {
namespace {

using Numbers = std::vector<Tensor>;  // one a rank

Numbers drawn(Dtype dtype, int ranks, std::int64_t elements) {
  std::mt19937_64 random(static_cast<std::uint64_t>(ranks * 1000 + elements));
  std::normal_distribution<double> normal;
  Numbers all;
  for (int rank = 0; rank < ranks; ++rank) {
    Tensor& own = all.emplace_back(dtype, std::vector<std::int64_t>{elements});
    for (std::size_t i = 0; i < own.elements(); ++i) own.set(i, normal(random));
  }
  return all;
}

/// What every rank holds behind the sum.
Numbers summed(const std::string& algorithm, const Numbers& own) {
  Numbers after(own.size());
  run_ranks_on_fibres(static_cast<int>(own.size()), 5, [&](Link& link) {
    const auto rank = static_cast<std::size_t>(link.rank());
    Stream stream(device(ExecutorKind::host));
    DeviceTensor values(stream.device(), "numbers", own[rank]);
    const auto sum = kernel<RankSumArguments>("rank_sum", ExecutorKind::host, "in_format");
    const auto add = [&](const RankSumArguments& arguments) { sum(stream, arguments); };
    Addends addends(link, stream.device(), add, "sum", own[rank].dtype, values.data(),
                    static_cast<std::int64_t>(own[rank].elements()));
    all_reduce(algorithm)(addends);
    after[rank] = values.read();
  });
  return after;
}

Tensor by_definition(const std::string& algorithm, const Numbers& own) {
  const int ranks = static_cast<int>(own.size());
  Tensor sum = own.front();
  const std::size_t chunk = sum.elements() / own.size();
  for (std::size_t i = 0; i < sum.elements(); ++i) {
    std::vector<double> values;
    for (const Tensor& each : own) values.push_back(each.value(i));
    const auto order = oracle::rank_additions(algorithm, ranks, static_cast<int>(i / chunk));
    for (const auto& [to, from] : order.steps)
      values[static_cast<std::size_t>(to)] = oracle::rounded_sum(
          oracle::format_of(sum.dtype), values[static_cast<std::size_t>(to)], values[static_cast<std::size_t>(from)]);
    sum.set(i, values[static_cast<std::size_t>(order.sum)]);
  }
  return sum;
}

class AllReduce : public ::testing::TestWithParam<const char*> {};

TEST_P(AllReduce, LeavesTheBitsOfItsOrderOnEveryRank) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
      const Numbers own = drawn(dtype, ranks, 3 * ranks);

      const Numbers after = summed(GetParam(), own);

      const Tensor expected = by_definition(GetParam(), own);
      for (int rank = 0; rank < ranks; ++rank)
        ASSERT_EQ(after[static_cast<std::size_t>(rank)], expected)
            << name_of(dtype) << ", rank " << rank << " of " << ranks;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AllReduce,
                         ::testing::Values("in_order", "ring", "recursive_doubling", "recursive_halving", "tree",
                                           "all_to_all"));

TEST(AllReduceOrders, DifferFromEachOther) {
  const Numbers own = drawn(Dtype::fp32, 3, 300);

  const Tensor in_order = summed("in_order", own).front(), ring = summed("ring", own).front();

  EXPECT_FALSE(in_order == ring);  // about a third of all elements tell two orders of three addends apart
}

}  // namespace
}  // namespace tally
