#include <gtest/gtest.h>

#include <cmath>

#include "properties/lab/sweeps/accumulate.hpp"

namespace tally::accumulate_stage_test {
namespace {

constexpr std::uint64_t lanes = 16;

Fit fitted(Rounding rounding, Signs signs, int last) {
  std::vector<double> addends, drift;
  for (int exponent = 4; exponent <= last; ++exponent) {  // first_fitted addends and more
    addends.push_back(std::exp2(exponent));
    const auto seed = static_cast<std::uint64_t>(exponent);
    drift.push_back(accumulate_alone(rounding, signs, std::uint64_t{1} << exponent, lanes, seed).plain.relative());
  }
  return fit_power(addends, drift);
}

TEST(AccumulateStage, LosesNothingWithOneAddend) {
  for (const Rounding rounding : {Rounding::fp32, Rounding::fp16, Rounding::bf16, Rounding::fp32_towards_zero}) {
    const StageDrift drift = accumulate_alone(rounding, Signs::random, 1, lanes, 1);
    EXPECT_EQ(drift.plain.relative(), 0);
    EXPECT_EQ(drift.kahan.relative(), 0);
    EXPECT_EQ(drift.pairwise.relative(), 0);
    EXPECT_EQ(drift.plain.lost, 0u);
  }
}

TEST(AccumulateStage, StaysInsideTheBoundOfAnyOrder) {
  // |error| <= ((1 + u)^(K - 1) - 1) sum of |addends|, and with one sign that sum is the exact value.
  for (const Rounding rounding : {Rounding::fp32, Rounding::fp16, Rounding::bf16}) {
    for (const int addends : {2, 3, 64, 1000}) {
      const StageDrift drift = accumulate_alone(rounding, Signs::same, static_cast<std::uint64_t>(addends), lanes, 2);
      const double bound = std::expm1((addends - 1) * std::log1p(std::exp2(-precision_of(rounding))));
      EXPECT_LE(drift.plain.relative(), bound);
      EXPECT_LE(drift.pairwise.relative(), bound);
    }
  }
}

TEST(AccumulateStage, KeepsACompensatedSumWithinTwoUnits) {
  // Kahan: |error| <= (2 u + O(K u^2)) sum of |addends|; with K u^2 far below u, three units hold it.
  const StageDrift drift = accumulate_alone(Rounding::fp32, Signs::same, 1 << 14, lanes, 3);

  EXPECT_LE(drift.kahan.relative(), 3 * 0x1p-24);
  EXPECT_LE(drift.kahan.relative(), drift.plain.relative());
}

TEST(AccumulateStage, StagnatesWhereTheAddendsFallBelowHalfAnUlpOfTheSum) {
  // Addends from 2^-8 to 2^-5 of one sign. bf16 loses the largest once the sum reaches 2^4: 256 ulp of 2^-4.
  const StageDrift before = accumulate_alone(Rounding::bf16, Signs::same, 64, lanes, 4);
  const StageDrift after = accumulate_alone(Rounding::bf16, Signs::same, 1 << 16, lanes, 4);

  EXPECT_EQ(before.plain.lost, 0u);
  EXPECT_GT(after.plain.lost, lanes << 15);
  EXPECT_GT(after.plain.relative(), 0.5);
  EXPECT_EQ(accumulate_alone(Rounding::fp32, Signs::same, 1 << 16, lanes, 4).plain.lost, 0u);
}

TEST(AccumulateStage, DriftsWithoutBiasAsTheSquareRootOfK) {
  for (const Signs signs : {Signs::random, Signs::same}) {
    const Fit fit = fitted(Rounding::fp32, signs, 14);
    EXPECT_EQ(bias_verdict(fit), Status::pass) << fit.interval.low << " to " << fit.interval.high;
  }
}

TEST(AccumulateStage, DriftsWithABiasAsKAndIsCalledBiased) {
  for (const Signs signs : {Signs::random, Signs::same}) {
    const Fit fit = fitted(Rounding::fp32_towards_zero, signs, 14);
    EXPECT_TRUE(fit.interval.holds(1)) << fit.interval.low << " to " << fit.interval.high;
    EXPECT_FALSE(fit.interval.holds(0.5));
    EXPECT_EQ(bias_verdict(fit), Status::fail);
  }
}

TEST(BiasVerdict, IsGreenForAnIntervalBelowOneAlone) {
  EXPECT_EQ(bias_verdict({0.5, 0, {0.4, 0.6}, 9}), Status::pass);
  EXPECT_EQ(bias_verdict({0.7, 0, {0.6, 0.8}, 9}), Status::pass);
  EXPECT_EQ(bias_verdict({0.8, 0, {0.6, 1.0}, 9}), Status::fail);
  EXPECT_EQ(bias_verdict({2, 0, {1.9, 2.1}, 9}), Status::fail);
  EXPECT_EQ(bias_verdict({0.7, 0, {0.3, 1.1}, 9}), Status::vacuous);
  EXPECT_EQ(bias_verdict(fit_line({}, {})), Status::vacuous);
}

TEST(BufferCurve, IsFittedFromSixteenAddendsUpToTheFirstLostOne) {
  BufferCurve curve{Rounding::fp32, Signs::same, BufferKind::plain, {1, 4, 16, 64, 256, 1024}, {9, 9, 4, 8, 64, 1}};

  fit_below_stagnation(curve, {0, 0, 0, 0, 5, 0});

  EXPECT_EQ(curve.fitted, 4u);
  EXPECT_EQ(curve.fit.points, 2u);
  EXPECT_EQ(curve.fit.slope, 0.5);
}

}  // namespace
}  // namespace tally::accumulate_stage_test
