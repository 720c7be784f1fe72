// The sums of every algorithm against the order that its definition gives, bit for bit, on every rank.
#include "kernels/ranks/all_reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

#include "kernels/device/kernel_registry.hpp"
#include "kernels/ranks/fibres.hpp"
#include "kernels/training_step/run/device_tensor.hpp"
#include "oracle/tolerance/format.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::all_reduce_test {
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
Numbers summed(const std::string& algorithm, const Numbers& own, std::uint64_t order = 5) {
  Numbers after(own.size());
  run_ranks_on_fibres(static_cast<int>(own.size()), order, [&](Link& link) {
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

class Undeclared : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Algorithms, Undeclared, ::testing::Values("arrival", "library"));

double added(double x, double y) { return oracle::rounded_sum(oracle::format_of(Dtype::fp32), x, y); }

TEST_P(Undeclared, LeavesTheSameSumOfSomeOrderOnEveryRank) {
  const Numbers own = drawn(Dtype::fp32, 3, 300);
  Tensor by_last[] = {own.front(), own.front(), own.front()};  // the rank that is added last
  for (std::size_t i = 0; i < own.front().elements(); ++i)
    for (std::size_t last = 0; last < 3; ++last)
      by_last[last].set(i,
                        added(added(own[(last + 1) % 3].value(i), own[(last + 2) % 3].value(i)), own[last].value(i)));
  bool seen[] = {false, false, false};
  for (std::uint64_t order = 1; order <= 40; ++order) {
    const Numbers after = summed(GetParam(), own, order);
    ASSERT_EQ(after[1], after[0]);
    ASSERT_EQ(after[2], after[0]);
    const auto* const found = std::ranges::find(by_last, after[0]);
    ASSERT_NE(found, std::end(by_last)) << order;
    seen[found - by_last] = true;
  }
  EXPECT_TRUE(seen[1] && seen[2]);
  EXPECT_EQ(seen[0], std::string(GetParam()) == "library");  // who adds as they come begins with its own
}

TEST_P(Undeclared, AddsInTheOrderOfRanksWhereNothingIsDrawn) {
  const Numbers own = drawn(Dtype::bf16, 5, 15);

  EXPECT_EQ(summed(GetParam(), own, 0).back(), by_definition("in_order", own));
}

TEST_P(Undeclared, LosesNoNumberOfManyRanks) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    Numbers own;
    for (int rank = 0; rank < ranks; ++rank) {
      own.emplace_back(Dtype::fp32, std::vector<std::int64_t>{ranks});
      for (int i = 0; i < ranks; ++i) own.back().set(static_cast<std::size_t>(i), std::ldexp(1.0, rank % 20));
    }
    double sum = 0;
    for (const Tensor& each : own) sum += each.value(0);
    const Numbers sums = summed(GetParam(), own, static_cast<std::uint64_t>(ranks));
    ASSERT_EQ(sums.size(), own.size());
    for (const Tensor& after : sums) ASSERT_EQ(after.value(static_cast<std::size_t>(ranks - 1)), sum) << ranks;
  }
}

}  // namespace
}  // namespace tally::all_reduce_test
