// Sums over ranks worked by hand, and their bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>

#include "oracle/case/rank_keys.hpp"
#include "oracle/exact/exact.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle::rank_sums_test {
namespace {

using Steps = std::vector<std::pair<int, int>>;

TEST(RankAdditions, AreThoseOfTheirDefinitions) {
  EXPECT_EQ(rank_additions("in_order", 4, 2).steps, (Steps{{0, 1}, {0, 2}, {0, 3}}));
  EXPECT_EQ(rank_additions("ring", 4, 2).steps, (Steps{{3, 0}, {3, 1}, {3, 2}}));
  EXPECT_EQ(rank_additions("recursive_doubling", 4, 0).steps, (Steps{{0, 1}, {2, 3}, {0, 2}}));
  EXPECT_EQ(rank_additions("recursive_doubling", 6, 0).steps, (Steps{{0, 1}, {2, 3}, {0, 2}, {4, 5}, {0, 4}}));
  EXPECT_EQ(rank_additions("recursive_halving", 4, 0).steps, (Steps{{0, 2}, {1, 3}, {0, 1}}));
  EXPECT_EQ(rank_additions("recursive_halving", 6, 0).steps, (Steps{{0, 1}, {2, 3}, {0, 4}, {2, 5}, {0, 2}}));
  EXPECT_EQ(rank_additions("tree", 6, 0).steps, (Steps{{2, 5}, {1, 3}, {1, 4}, {0, 1}, {0, 2}}));
  EXPECT_TRUE(rank_additions("in_order", 1, 0).steps.empty());
}

int height(const std::string& algorithm, int ranks) { return height_of(rank_additions(algorithm, ranks, 0)); }

TEST(RankAdditions, PassNoMoreThanTheirHeight) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    int least = 0;
    while (1 << least < ranks) ++least;
    EXPECT_EQ(height("in_order", ranks), ranks - 1);
    EXPECT_EQ(height("ring", ranks), ranks - 1);
    EXPECT_EQ(height("recursive_doubling", ranks), least) << ranks;
    EXPECT_EQ(height("recursive_halving", ranks), least) << ranks;
    EXPECT_LE(height("tree", ranks), 2 * (std::bit_width(static_cast<unsigned>(ranks)) - 1)) << ranks;
  }
}

/// What a subject declares that adds over ranks so; claims live as long as the program.
Declared claiming(const std::string& algorithm, Dtype accumulate) {
  static std::deque<Claims> all;
  Claims& claims = all.emplace_back();
  claims.kernels["reduce"] = {.variant = algorithm, .algorithm = algorithm};
  Precision precision;
  precision.accumulate = accumulate;
  return declared(precision, claims);
}

/// Two linear layers, 3-4-2, and six rows of which four ranks have one each, and two more.
Case four_ranks() {
  Case c;
  c.model.input = 3;
  for (const auto& [name, out] : {std::pair{"fc1", 4}, std::pair{"out", 2}}) {
    Layer layer;
    layer.kind = "linear";
    layer.name = name;
    layer.options = {{"out", std::int64_t{out}}, {"bias", true}};
    c.model.layers.push_back(layer);
  }
  c.model.loss = {"mse", {{"item_weights", false}}};
  c.windows = {{1, 1, 1, 1, 2}};
  c.dealt = {{1, 1, 1, 2}};
  c.tensors = {{"fc1.weight", Tensor(Dtype::fp32, {4, 3})}, {"fc1.bias", Tensor(Dtype::fp32, {4})},
               {"out.weight", Tensor(Dtype::fp32, {2, 4})}, {"out.bias", Tensor(Dtype::fp32, {2})},
               {"x", Tensor(Dtype::fp32, {6, 3})},          {"target", Tensor(Dtype::fp32, {6, 2})}};
  return c;
}

Matrix<float> column(std::initializer_list<float> values) {
  Matrix<float> all(static_cast<Eigen::Index>(values.size()), 1);
  std::copy(values.begin(), values.end(), all.data());
  return all;
}

TEST(RankSums, StickInBf16WhereTheRingAddsOnes) {
  const std::vector<Matrix<float>> ones(384, column({1}));
  const PlaceInBucket place{0, 1};

  EXPECT_EQ((*rounded_over_ranks(claiming("ring", Dtype::bf16), place, ones))(0, 0), 256);
  EXPECT_EQ((*rounded_over_ranks(claiming("recursive_doubling", Dtype::bf16), place, ones))(0, 0), 384);
  EXPECT_EQ((*rounded_over_ranks(claiming("ring", Dtype::fp32), place, ones))(0, 0), 384);
}

TEST(RankSums, KeepInFp32WhatBf16WouldLose) {
  const std::vector<Matrix<float>> addends{column({256}), column({1}), column({1})};
  std::vector<Expected> read;
  for (const auto& each : addends) read.push_back(known(each));
  const std::vector<const Expected*> all{&read[0], &read[1], &read[2]};
  const Declared in_order = claiming("all_to_all", Dtype::bf16);

  EXPECT_EQ((*rounded_over_ranks(in_order, {}, addends, RankRounding::each))(0, 0), 256);
  EXPECT_EQ((*rounded_over_ranks(in_order, {}, addends, RankRounding::once))(0, 0), 258);
  const Expected each = summed_over_ranks(in_order, {}, all, RankRounding::each),
                 once = summed_over_ranks(in_order, {}, all, RankRounding::once);
  EXPECT_GE(each.e(0, 0), 2) << "256 is 2 off";
  EXPECT_LT(once.e(0, 0), 2) << "one rounding of bf16 is at most 1 off";
}

TEST(RankSums, GoRoundFromTheChunkOnwards) {
  const float large = 0x1p25f;
  const std::vector<Matrix<float>> addends{column({large, large}), column({1, 1}), column({-large, -large})};

  const auto sum = rounded_over_ranks(claiming("ring", Dtype::fp32), PlaceInBucket{0, 1}, addends);

  EXPECT_EQ((*sum)(0, 0), 0);  // chunk 0: (1 - large) + large, where 1 is lost
  EXPECT_EQ((*sum)(1, 0), 1);  // chunk 1: (-large + large) + 1
}

TEST(RankSums, StayInsideTheBoundOfAnyOrderWhereNoneIsClaimed) {
  const std::vector<Matrix<float>> floats{column({1}), column({0x1p-24f}), column({0x1p-24f})};
  std::vector<Expected> read;
  for (const auto& each : floats) read.push_back(known(each));

  const Expected sum = summed_over_ranks(claiming("any", Dtype::fp32), {}, {&read[0], &read[1], &read[2]});

  EXPECT_FALSE(rounded_over_ranks(claiming("any", Dtype::fp32), {}, floats));
  EXPECT_EQ(sum.v(0, 0), 1 + 0x1p-23L);
  EXPECT_GE(sum.e(0, 0), 0x1p-23);         // in order 1 is left
  EXPECT_LE(sum.e(0, 0), 2.01 * 0x1p-24);  // gam(2, u)
}

TEST(RankSums, KnowWhereAParameterLiesInItsBucket) {
  const Case c = four_ranks();  // fc1.weight 12, fc1.bias 4, out.weight 8, out.bias 2

  const PlaceInBucket together = place_in_bucket(c, "out.weight");
  const PlaceInBucket apart = place_in_bucket(with_rank_option(c, "buckets.elements", std::int64_t{13}), "out.bias");
  const PlaceInBucket backwards =
      place_in_bucket(with_rank_option(c, "buckets.order", std::string("reverse")), "fc1.bias");

  EXPECT_EQ(together.first, 16);
  EXPECT_EQ(together.chunk, 7);  // 26, padded to 28
  EXPECT_EQ(apart.first, 8);     // behind out.weight, as the first two fill a bucket
  EXPECT_EQ(apart.chunk, 3);
  EXPECT_EQ(backwards.first, 10);
}

TEST(Divisors, CountRanksWithAMicroBatch) {
  Case c = four_ranks();
  c.windows = {{1, 2, 3}};
  c.dealt = {{2, 1, 0, 0}};
  const auto by = [&](Normalisation normalisation, std::size_t k) {
    c.normalisation = normalisation;
    return divisor<long double>(c, 0, k);
  };

  EXPECT_EQ(by(Normalisation::window_items, 1), 6);
  EXPECT_EQ(by(Normalisation::mean_of_means, 1), 2 * 2 * 2);  // R' K_0 n_01
  EXPECT_EQ(by(Normalisation::mean_of_means, 2), 2 * 1 * 3);
  EXPECT_EQ(by(Normalisation::rank_means, 1), 2 * 3);  // R' n_0
  EXPECT_EQ(by(Normalisation::rank_means, 2), 2 * 3);
  EXPECT_EQ(by(Normalisation::sum, 2), 1);
}

}  // namespace
}  // namespace tally::oracle::rank_sums_test
