// The probe of sums against devices that take k in orders of their own: emulated blocks of products (the published bit
// model), permuted, reversed, in parts, and of kinds that no generation has.
#include "kernels/device/probes/sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/oracle/emulated/tensor_core.hpp"

namespace tally::sums_test {
namespace {

using oracle::emulated::Blocks;
using Order = std::vector<std::size_t>;

const ProductKind in_fp32{Dtype::fp16};
constexpr std::size_t k = 64;

Blocks blocks(std::size_t terms, int bits) {
  return {terms, bits, oracle::format_of(Dtype::fp16), oracle::format_of(Dtype::fp32)};
}

/// a column, as the emulated device takes its places.
std::vector<double> taken(const Column& column, const Order& order) {
  std::vector<double> placed(order.size()), all;
  for (const Factor& each : column) placed[each.position] = static_cast<double>(each.value);
  for (const std::size_t position : order) all.push_back(placed[position]);
  return all;
}

using Sum = std::function<double(const std::vector<double>& a, const std::vector<double>& b)>;

Ask device_that(const Order& order, const Sum& sum) {
  return [=](float a, const std::vector<Column>& columns) {
    std::vector<float> answers;
    for (const Column& column : columns) {
      const std::vector<double> b = taken(column, order);
      answers.push_back(static_cast<float>(sum(std::vector<double>(b.size(), static_cast<double>(a)), b)));
    }
    return answers;
  };
}

Sum by(const Blocks& core) {
  return [core](const auto& a, const auto& b) { return oracle::emulated::dot(core, a, b); };
}

Order in_order() {
  Order order(k);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// Place p of the order, its bits rotated: each thread reads neighbours and multiplies them in turn.
Order rotated(int by_bits) {
  Order order(k);
  for (std::size_t p = 0; p < k; ++p) order[p] = p / 32 * 32 + ((p << by_bits | p % 32 >> (5 - by_bits)) & 31);
  return order;
}

Order reversed() {
  Order order = in_order();
  std::ranges::reverse(order);
  return order;
}

SumTraits probed(const Order& order, const Sum& sum) {
  SumTraits found = probe_sums(device_that(order, sum), in_fp32, k);
  found.row = row_of(found, in_fp32);
  return found;
}

TEST(ProbeOfSums, FindsTermsAndBitsWhateverOrderKIsTakenIn) {
  for (const std::size_t terms : {4u, 8u, 16u, 32u}) {
    for (const int bits : {23, 24, 25, 26}) {
      for (const Order& order : {in_order(), reversed(), rotated(1), rotated(2), rotated(3), rotated(4)}) {
        const SumTraits found = probed(order, by(blocks(terms, bits)));
        EXPECT_EQ(found.terms, terms);
        EXPECT_EQ(found.fraction_bits, bits);
        EXPECT_EQ(found.rounding, "truncate");
      }
    }
  }
}

TEST(ProbeOfSums, FitsARowOnlyWhereTermsAndBitsReachIt) {
  const auto row = [](std::size_t terms, int bits) { return probed(in_order(), by(blocks(terms, bits))).row; };
  EXPECT_EQ(row(16, 25), "h100");
  EXPECT_EQ(row(8, 25), "h100");
  EXPECT_EQ(row(16, 24), "a100");
  EXPECT_EQ(row(8, 24), "a100");
  EXPECT_EQ(row(4, 25), "v100");
  EXPECT_EQ(row(32, 23), "v100");
  EXPECT_EQ(row(2, 25), "unknown");
  EXPECT_EQ(row(16, 22), "unknown");
  EXPECT_EQ(row(32, 13), "unknown") << "as fp8 is summed";
}

/// Two accumulators that take blocks in turn, added at the end to nearest.
double in_two_accumulators(const Blocks& core, const std::vector<double>& a, const std::vector<double>& b) {
  double sums[2] = {};
  for (std::size_t i = 0; i < a.size(); i += core.terms) {
    double& sum = sums[i / core.terms % 2];
    sum = oracle::emulated::block(core, a, b, i, std::min(i + core.terms, a.size()), sum);
  }
  return static_cast<double>(static_cast<float>(sums[0]) + static_cast<float>(sums[1]));
}

TEST(ProbeOfSums, SeesAccumulatorsThatMeetToNearest) {
  const Blocks core = blocks(8, 24);
  const SumTraits found =
      probed(in_order(), [=](const auto& a, const auto& b) { return in_two_accumulators(core, a, b); });
  EXPECT_EQ(found.terms, 8u);
  EXPECT_EQ(found.row, "a100");
  EXPECT_TRUE(found.parts_meet_to_nearest);
}

/// Each half of k by itself, added to nearest: what a split of k does.
TEST(ProbeOfSums, SeesFarPartsThatMeetToNearest) {
  const Blocks core = blocks(16, 25);
  const SumTraits found = probed(in_order(), [=](const auto& a, const auto& b) {
    const auto half = [&](const auto& all, std::size_t from) {
      return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                 all.begin() + static_cast<std::ptrdiff_t>(from + k / 2));
    };
    const double first = oracle::emulated::dot(core, half(a, 0), half(b, 0));
    return static_cast<double>(static_cast<float>(first + oracle::emulated::dot(core, half(a, k / 2), half(b, k / 2))));
  });
  EXPECT_EQ(found.row, "h100");
  EXPECT_TRUE(found.parts_meet_to_nearest);
}

/// A library may have another kernel for results in the operands' own format.
TEST(ProbeOfSums, NamesNoRowWhereTheTwoResultsDisagree) {
  const auto device = [](std::size_t terms_for_fp16) {
    return [=](const ProductKind& kind, float a, const std::vector<Column>& columns) {
      const std::size_t terms = kind.result == Dtype::fp16 ? terms_for_fp16 : 8;
      return device_that(in_order(), by(blocks(terms, 25)))(a, columns);
    };
  };
  EXPECT_EQ(probe_both_results(device(8), in_fp32, k).row, "h100");
  EXPECT_EQ(probe_both_results(device(4), in_fp32, k).row, "unknown");
  EXPECT_EQ(probe_both_results(device(4), in_fp32, k).terms, 4u);
}

TEST(ProbeOfSums, FitsNoRowToBlocksThatRoundToNearest) {
  Blocks core = blocks(8, 25);
  const auto nearest = [=](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < k; i += 8) {
      Blocks wide = core;
      wide.result.p = 40;  // the block's exact sum, rounded here
      sum = static_cast<double>(static_cast<float>(oracle::emulated::block(wide, a, b, i, i + 8, sum)));
    }
    return sum;
  };
  const SumTraits found = probed(in_order(), nearest);
  EXPECT_EQ(found.terms, 8u);
  EXPECT_EQ(found.rounding, "nearest");
  EXPECT_EQ(found.row, "unknown");
}

TEST(ProbeOfSums, SeesProductsAndSumsThatAreFlushed) {
  const ProductKind wide{};
  const auto flushes = [](double x) { return std::fabs(x) < 0x1p-126 ? 0.0 : x; };
  const Sum exact = [](const auto& a, const auto& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); };
  EXPECT_TRUE(probe_sums(device_that(in_order(), exact), wide, k).keeps_subnormals);
  const Sum flushed_result = [&](const auto& a, const auto& b) { return flushes(exact(a, b)); };
  EXPECT_FALSE(probe_sums(device_that(in_order(), flushed_result), wide, k).keeps_subnormals);
  const Sum flushed_products = [&](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += flushes(a[i] * b[i]) == 0 && a[i] != 1 && b[i] != 1 ? 0 : a[i] * b[i];
    return sum;
  };
  EXPECT_FALSE(probe_sums(device_that(in_order(), flushed_products), wide, k).keeps_subnormals);
  const Sum flushed_operands = [&](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += flushes(a[i]) * flushes(b[i]);
    return sum;
  };
  EXPECT_FALSE(probe_sums(device_that(in_order(), flushed_operands), wide, k).keeps_subnormals);
}

TEST(ProbeOfSums, TakesTheLoosestOfTwoAnswersAndNoRowTheyDisagreeOn) {
  const SumTraits tight{.answered = true,
                        .keeps_subnormals = true,
                        .rounding = "truncate",
                        .terms = 16,
                        .fraction_bits = 25,
                        .row = "h100"};
  SumTraits loose = tight;
  EXPECT_EQ(loosest(tight, loose).row, "h100");
  loose = {.answered = true,
           .keeps_subnormals = false,
           .rounding = "nearest",
           .terms = 4,
           .fraction_bits = 23,
           .parts_meet_to_nearest = true,
           .row = "scalar"};
  const SumTraits both = loosest(tight, loose);
  EXPECT_FALSE(both.keeps_subnormals);
  EXPECT_EQ(both.rounding, "unknown");
  EXPECT_EQ(both.terms, 4u);
  EXPECT_EQ(both.fraction_bits, 23);
  EXPECT_TRUE(both.parts_meet_to_nearest);
  EXPECT_EQ(both.row, "unknown");
  EXPECT_FALSE(loosest(tight, SumTraits{}).answered);
}

}  // namespace
}  // namespace tally::sums_test
