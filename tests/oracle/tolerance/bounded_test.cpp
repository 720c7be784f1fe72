#include "oracle/tolerance/bounded.hpp"

#include <gtest/gtest.h>

#include <random>

#include "oracle/tolerance/format.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::bounded_test {
namespace {

const Format fp32{24, -126, 127}, fp16{11, -14, 15};

TEST(Format, HasTheConstantsOfTheStandard) {
  EXPECT_EQ(format_of(Dtype::fp16).overflow_threshold(), 65520);
  EXPECT_EQ(format_of(Dtype::fp32).overflow_threshold(), 0x1p128 - 0x1p103);
  EXPECT_EQ(format_of(Dtype::bf16).overflow_threshold(), 0x1p128 - 0x1p119);
  EXPECT_EQ(format_of(Dtype::fp16).underflow(), 0x1p-25);
  EXPECT_EQ(format_of(Dtype::fp32).underflow(), 0x1p-150);
  EXPECT_EQ(format_of(Dtype::bf16).unit_roundoff(), 0x1p-8);
  EXPECT_THROW(format_of(Dtype::i64), std::invalid_argument);
}

TEST(Rounded, GivesEveryHalfBackAndTiesToEven) {
  Tensor half(Dtype::fp16, {1});
  for (std::uint64_t bits = 0; bits < 0x7c00; ++bits) {
    half.set_bits(0, bits);
    const double x = half.value(0);
    EXPECT_EQ(rounded(fp16, x), x);
    half.set_bits(0, bits + 1);
    const double next = bits + 1 == 0x7c00 ? 65536 : half.value(0), middle = (x + next) / 2;
    const double even = bits % 2 == 0 ? x : bits + 1 == 0x7c00 ? infinite : next;
    ASSERT_EQ(rounded(fp16, middle), even);
    ASSERT_EQ(rounded(fp16, std::nextafter(middle, 0)), x);
    ASSERT_EQ(rounded(fp16, -middle), -even);
  }
}

TEST(Bounded, HoldsRandomExpressionsInFloat) {
  const Arithmetic a(undeclared(), fp32);
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<float>(normal(random)), y = static_cast<float>(normal(random)), z = 1 + x * x;
    const Bounded bx{x, 0}, by{y, 0}, bz{z, 0};
    const float got = std::sqrt((x + y) * (x + y)) / z - x * y;
    const Bounded sum = a.add(bx, by);
    const Bounded bound = a.sub(a.div(a.sqrt(a.mul(sum, sum)), bz), a.mul(bx, by));
    const long double lx = x, ly = y, lz = z, exact = std::fabs(lx + ly) / lz - lx * ly;
    const auto error = static_cast<double>(std::fabs(got - exact));
    ASSERT_TRUE(error <= bound.e) << x << " " << y;
    worst = std::max(worst, error / bound.e);
  }
  EXPECT_GT(worst, 0.25);  // not far from what really happens
}

TEST(Bounded, RejectsOneMoreRoundingThanCounted) {
  const Arithmetic a(undeclared(), fp32);
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  int over = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto x = static_cast<float>(normal(random)), y = static_cast<float>(normal(random));
    const auto exact = static_cast<long double>(x) * y;
    const auto twice = static_cast<float>(rounded(fp16, x * y));
    if (!(static_cast<double>(std::fabs(twice - exact)) <= a.mul({x, 0}, {y, 0}).e)) ++over;
  }
  EXPECT_GT(over, 900);
}

TEST(Bounded, SumsInAnyOrderWithinTheBoundAndNoFurther) {
  const Arithmetic a(undeclared(), fp32);
  Addends ones;
  float stagnated = 0x1p24f;
  ones.add({0x1p24, 0});
  for (int i = 0; i < 64; ++i) {
    ones.add({1, 0});
    stagnated += 1.0f;  // lost: 2^24 + 1 is no float
  }
  EXPECT_EQ(stagnated, 0x1p24f);
  const Bounded sum = a.sum(ones);
  EXPECT_LE(64, sum.e);
  EXPECT_GT(64 * 2, a.sum(ones).e);
  EXPECT_GT(64, a.sum(ones, 6).e);  // a declared tree of height 6 could not have lost them
}

/// What lies within e of v is stored between the roundings of v - e and v + e.
TEST(Bounded, StoresAsTheOneNumberThatIsInReach) {
  const Arithmetic half(undeclared(), fp16);
  const double unit = 0x1p-10, v = 1 + unit / 4;
  for (const double e : {0.0, unit / 8}) {
    EXPECT_LE(unit / 4, half.store({v, e}).e);  // 1 for certain
    EXPECT_GT(unit / 2, half.store({v, e}).e);
  }
  EXPECT_LE(3 * unit / 4, half.store({v, unit / 2}).e);        // 1 or its successor
  const Sources half_ulps{1, 1, std::nextafter(1.0, 0.0), 1};  // where each store counts half an ulp
  const Arithmetic counting(undeclared({.sources = half_ulps}), fp16);
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20000; ++i) {
    const double exact = normal(random), e = std::fabs(normal(random)) * 0x1p-12 * std::fabs(exact);
    const double moved = exact + e * (2.0 * static_cast<double>(random() % 1024) / 1023 - 1);
    const Bounded stored = half.store({exact, e});
    ASSERT_LE(std::fabs(rounded(fp16, moved) - exact), stored.e) << exact << " " << e;
    ASSERT_LE(stored.e, counting.store({exact, e}).e * inflation);
  }
}

TEST(Bounded, MultipliesByAPowerOfTwoExactly) {
  const Arithmetic a(undeclared(), fp32);
  EXPECT_EQ(a.mul({3.7, 0}, {0.25, 0}).e, 0);
  EXPECT_GT(a.mul({0x1.8p-149, 0}, {0.25, 0}).e, 0);  // but for underflow
  EXPECT_GT(a.mul({3.7, 0}, {0.3, 0}).e, 0x1p-26);
}

TEST(Bounded, TellsCertainFromUndecidedOverflow) {
  const Arithmetic half(undeclared(), fp16);
  const Bounded certain = half.store({70000, 1}), open = half.store({65519, 40}), finite = half.store({60000, 1});
  EXPECT_TRUE(std::isinf(certain.v));
  EXPECT_EQ(certain.e, 0);
  EXPECT_EQ(open.e, infinite);
  EXPECT_LT(finite.e, 32);
}

TEST(Bounded, LeavesADivisionByWhatMayBeZeroUndecided) {
  const Arithmetic a(undeclared(), fp32);
  EXPECT_EQ(a.div({1, 0}, {0.5, 0.5}).e, infinite);
  EXPECT_LT(a.div({1, 0}, {0.5, 0.25}).e, infinite);
}

TEST(Bounded, KeepsNonFiniteValuesCertain) {
  const Arithmetic a(undeclared(), fp32);
  const Bounded inf{infinite, 0};
  EXPECT_TRUE(std::isnan(a.sub(inf, inf).v));
  EXPECT_EQ(a.sub(inf, inf).e, 0);
  EXPECT_TRUE(std::isinf(a.mul(inf, {2, 0.5}).v));
  EXPECT_EQ(a.mul(inf, {2, 0.5}).e, 0);
  EXPECT_EQ(a.add(inf, {0, infinite}).e, infinite);
}

}  // namespace
}  // namespace tally::oracle::bounded_test
