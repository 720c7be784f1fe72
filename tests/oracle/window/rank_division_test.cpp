// Sums over ranks that are divided on the way: worked by hand, and their bounds beside what is left of drawn numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <random>

#include "oracle/case/rank_keys.hpp"
#include "oracle/tolerance/predicted_bits.hpp"
#include "oracle/window/bound_stages.hpp"
#include "oracle/window/rank_stages.hpp"

namespace tally::oracle::rank_division_test {
namespace {

Declared adding_in_pairs(Dtype accumulate) {
  static std::deque<Claims> all;
  Claims& claims = all.emplace_back();
  claims.kernels["reduce"] = {.variant = "recursive_doubling", .algorithm = "recursive_doubling"};
  Precision precision;
  precision.accumulate = accumulate;
  return declared(precision, claims);
}

/// So many ranks that divide in this way.
Case dividing(std::size_t ranks, const std::string& word, Dtype accumulate, const char* factor = "2") {
  Case c;
  c.precision.accumulate = accumulate;
  c.windows = {std::vector<std::int64_t>(ranks, 1)};
  c.dealt = {std::vector<std::int64_t>(ranks, 1)};
  set_rank_option(c.execution, "reduce.divide", word);
  if (word == "split") set_rank_option(c.execution, "reduce.factor", Decimal{factor});
  return c;
}

Matrix<float> one(float value) { return Matrix<float>::Constant(1, 1, value); }

/// What is left of one number of each rank.
float left(const Case& c, const std::vector<float>& numbers) {
  const Declared buffer = adding_in_pairs(c.precision.accumulate), in = of_the_wire(buffer, c);
  const RankDivision division = rank_division(c);
  std::vector<Matrix<float>> wires;
  for (const float number : numbers) wires.push_back(rounded_wire(in, division.front, one(number)));
  const Matrix<float> sum = *rounded_over_ranks(in, {}, wires);
  return rounded_in_the_buffer(buffer, c, division.behind ? rounded_wire(in, division.behind, sum) : sum)(0, 0);
}

Expected bounded(const Case& c, const std::vector<float>& numbers) {
  const Declared buffer = adding_in_pairs(c.precision.accumulate), in = of_the_wire(buffer, c);
  const RankDivision division = rank_division(c);
  std::deque<Expected> wires;
  std::vector<const Expected*> addends;
  for (const float number : numbers)
    addends.push_back(&wires.emplace_back(on_the_wire(in, division.front, known(one(number)))));
  const Expected sum = summed_over_ranks(in, {}, addends);
  return in_the_buffer(buffer, c, division.behind ? on_the_wire(in, division.behind, sum) : sum);
}

TEST(RankDivision, LosesSmallOrLargeNumbersByWhereItStands) {
  const auto all_left = [](const std::string& word, float number) {
    return left(dividing(512, word, Dtype::fp16, "32"), std::vector<float>(512, number));
  };
  const float small = 0x1.5p-17f, large = 60000;

  EXPECT_EQ(all_left("before", small), 0);  // small / 512 is less than half of the least subnormal number
  EXPECT_EQ(all_left("after", small), small);
  EXPECT_EQ(all_left("split", small), 0x1.4p-17f);  // of small / 32 three bits are left
  EXPECT_TRUE(std::isinf(all_left("after", large)));
  EXPECT_TRUE(std::isinf(all_left("split", large)));
  EXPECT_TRUE(std::isfinite(all_left("before", large)));
}

TEST(RankDivision, OfACollectiveHasOneConstantInItsFormat) {
  const RankDivision in_bf16 = rank_division(dividing(3, "collective", Dtype::bf16));
  const RankDivision in_fp32 = rank_division(dividing(3, "collective", Dtype::fp32));

  EXPECT_EQ(in_bf16.front->held, 171.0f / 512);  // (1 + 2^-9) / 3
  EXPECT_EQ(in_fp32.front->held, 1.0f / 3);
  EXPECT_FALSE(in_bf16.behind);
}

Case travelling(Dtype wire, Dtype buffer, const std::string& divide = "loss") {
  return with_rank_option(dividing(3, divide, buffer), "reduce.wire", std::string(name_of(wire)));
}

TEST(RankWire, RoundsWhatTravelsEverySumAndWhatTheBufferKeeps) {
  const float half = 0x1p-8f;  // of the distance between 1 and the next number of bf16

  EXPECT_EQ(left(travelling(Dtype::bf16, Dtype::fp32), {1, half, half}), 1);
  EXPECT_EQ(left(travelling(Dtype::bf16, Dtype::fp32), {1 + half, half, 0x1.8p-8f}), 1 + 2 * half);
  EXPECT_EQ(left(travelling(Dtype::fp32, Dtype::bf16), {1, half, half}), 1 + 2 * half);
  EXPECT_EQ(left(travelling(Dtype::fp32, Dtype::bf16), {1, half, 0}), 1);
  EXPECT_EQ(left(dividing(3, "loss", Dtype::bf16), {1, half, half}), 1);
  EXPECT_EQ(left(dividing(3, "loss", Dtype::fp32), {1, half, half}), 1 + 2 * half);
}

TEST(RankWire, OverflowsWhereTheBufferWouldNot) {
  const std::vector<float> large{60000, 60000, 1};

  EXPECT_TRUE(std::isinf(left(travelling(Dtype::fp16, Dtype::fp32), large)));
  EXPECT_EQ(left(travelling(Dtype::bf16, Dtype::fp32), {0x1p127f, -0x1p127f, 1}), 1);
  EXPECT_EQ(left(dividing(3, "loss", Dtype::fp32), large), 120001);
}

TEST(RankWire, HasTheConstantOfACollective) {
  EXPECT_EQ(rank_division(travelling(Dtype::bf16, Dtype::fp32, "collective")).front->held, 171.0f / 512);
}

TEST(RankWire, CostsARoundingMoreWhereTheBufferIsNarrower) {
  const std::vector<float> numbers{1, 2, 4};
  const auto off = [&](const Case& c) { return bounded(c, numbers).e(0, 0); };

  EXPECT_EQ(bounded(travelling(Dtype::fp32, Dtype::bf16), numbers).v(0, 0), 7);
  EXPECT_GT(off(travelling(Dtype::fp32, Dtype::bf16)), off(dividing(3, "loss", Dtype::fp32)));
  EXPECT_LT(off(travelling(Dtype::fp32, Dtype::bf16)), off(dividing(3, "loss", Dtype::bf16)));
  EXPECT_GE(off(travelling(Dtype::bf16, Dtype::fp32)), off(dividing(3, "loss", Dtype::bf16)));
}

TEST(RankDivision, OfAPowerOfTwoRoundsNothing) {
  const std::vector<float> numbers{3, 5, -7, 0.25f, 11, 2, -0.5f, 8};

  for (const std::string word : {"before", "after", "split", "collective"})
    EXPECT_EQ(left(dividing(8, word, Dtype::bf16), numbers), 21.75f / 8) << word;
}

TEST(RankDivision, MakesTheFactorOfALossSoMuchLarger) {
  EXPECT_EQ(rank_multiple(dividing(6, "loss", Dtype::fp32)), 1);
  EXPECT_EQ(rank_multiple(dividing(6, "unscale", Dtype::fp32)), 1);
  EXPECT_EQ(rank_multiple(dividing(6, "split", Dtype::fp32)), 6);
}

/// Of drawn numbers in the format: the worst distance from the exact mean, in bounds.
double worst_in_bounds(std::size_t ranks, const std::string& word, Dtype format, int exponent,
                       const std::string& wire = "buffer") {
  const Case c = with_rank_option(dividing(ranks, word, format, "3"), "reduce.wire", wire);
  const Declared in = adding_in_pairs(format);
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::normal_distribution<float> normal;
  double worst = 0;
  for (int draw = 0; draw < 200; ++draw) {
    std::vector<float> numbers;
    long double exact = 0, size = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      numbers.push_back(rounded_cast(in.accumulate, one(std::ldexp(normal(random), exponent)))(0, 0));
      exact += numbers.back();
      size += std::fabs(numbers.back());
    }
    exact /= static_cast<long double>(ranks);
    const Expected bound = bounded(c, numbers);
    EXPECT_LE(std::fabs(bound.v(0, 0) - exact), std::numeric_limits<double>::epsilon() * size);
    const auto off = std::fabs(static_cast<double>(left(c, numbers) - exact));
    EXPECT_LE(off, bound.e(0, 0)) << word << " of " << ranks << " in " << name_of(format);
    if (off > 0) worst = std::max(worst, off / bound.e(0, 0));
  }
  return worst;
}

TEST(RankDivision, StaysInsideItsBound) {
  for (const Dtype format : {Dtype::fp32, Dtype::bf16, Dtype::fp16})
    for (const std::string word : {"before", "after", "split", "collective"})
      for (const std::size_t ranks : {2u, 3u, 5u, 6u, 7u, 12u, 40u})
        for (const int exponent : {0, -13}) {
          const double worst = worst_in_bounds(ranks, word, format, exponent);
          EXPECT_TRUE(ranks > 7 || ranks == 2 || worst > 0.1) << word << " of " << ranks << ": " << worst;
        }
}

TEST(RankWire, StaysInsideItsBound) {
  for (const Dtype format : {Dtype::fp32, Dtype::bf16, Dtype::fp16})
    for (const std::string wire : {"fp32", "bf16", "fp16"})
      for (const std::string word : {"before", "after", "split", "collective"})
        for (const std::size_t ranks : {3u, 7u}) {
          const double worst = worst_in_bounds(ranks, word, format, 0, wire);
          EXPECT_GT(worst, 0.1) << wire << " into " << name_of(format) << ", " << word << " of " << ranks;
        }
}

}  // namespace
}  // namespace tally::oracle::rank_division_test
