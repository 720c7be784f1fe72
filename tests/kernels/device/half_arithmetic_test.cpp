// 16-bit arithmetic beside exact arithmetic on whole numbers.
#include "kernels/device/host/half_arithmetic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "tests/kernels/device/exact_sixteen.hpp"

namespace tally::half_arithmetic_test {
namespace {

template <class S>
S at(std::uint32_t bits) {
  return std::bit_cast<S>(static_cast<std::uint16_t>(bits));
}

template <class S>
bool finite(S a) {
  return std::isfinite(to_float(a));
}

/// Both signs of every exponent's first, last and some middle numbers; neither infinities nor NaNs.
template <class S>
std::vector<S> every_exponent() {
  constexpr unsigned fraction = Shape16<S>::digits - 1, ones = (1u << fraction) - 1;
  std::vector<S> all;
  for (unsigned exponent = 0; exponent <= 2 * Shape16<S>::largest_exponent; ++exponent) {
    for (const unsigned low : {0u, 1u, ones / 3, 1u << (fraction - 1), ones}) {
      all.push_back(at<S>(exponent << fraction | low));
      all.push_back(at<S>(0x8000u | exponent << fraction | low));
    }
  }
  return all;
}

bool negative(auto a) { return (a.bits & 0x8000u) != 0; }

template <class S>
std::uint16_t exact_sum(S a, S b) {
  return round_whole<S>(whole_of(a) + whole_of(b), last_place<S>, RoundingMode::nearest, negative(a) && negative(b));
}

template <class S>
std::uint16_t exact_product(S a, S b) {
  return round_whole<S>(whole_of(a) * whole_of(b), 2 * last_place<S>, RoundingMode::nearest,
                        negative(a) != negative(b));
}

/// a b + c.
template <class S>
std::uint16_t exact_fused(S a, S b, S c) {
  const bool product_negative = negative(a) != negative(b);
  return round_whole<S>(whole_of(a) * whole_of(b) + (whole_of(c) << -last_place<S>), 2 * last_place<S>,
                        RoundingMode::nearest, product_negative && negative(c));
}

template <class S>
class HalfArithmetic : public testing::Test {};
using Formats = testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(HalfArithmetic, Formats);

TYPED_TEST(HalfArithmetic, AddsSubtractsAndMultipliesWithOneRounding) {
  const std::vector<TypeParam> all = every_exponent<TypeParam>();
  std::size_t step = all.size() / 100;  // of one operand; coprime, so that both signs and every fraction come up
  while (std::gcd(step, all.size()) != 1) ++step;
  for (std::size_t i = 0; i < all.size(); i += step) {
    for (const TypeParam b : all) {
      const TypeParam a = all[i];
      ASSERT_EQ(__hadd_rn(a, b).bits, exact_sum(a, b)) << a.bits << " + " << b.bits;
      ASSERT_EQ(__hsub_rn(a, b).bits, exact_sum(a, negated(b))) << a.bits << " - " << b.bits;
      ASSERT_EQ(__hmul_rn(a, b).bits, exact_product(a, b)) << a.bits << " * " << b.bits;
    }
  }
}

TYPED_TEST(HalfArithmetic, FusesWithOneRounding) {
  const std::vector<TypeParam> all = every_exponent<TypeParam>();
  executor::Schedule random(7);
  const auto drawn = [&](unsigned choice) {
    if (choice == 0) return all[random.below(all.size())];
    TypeParam any = at<TypeParam>(static_cast<std::uint32_t>(random.below(1u << 16)));
    return finite(any) ? any : all[random.below(all.size())];
  };
  for (unsigned i = 0; i < 300000; ++i) {
    const TypeParam a = drawn(i % 2), b = drawn(i / 2 % 2), c = drawn(i / 4 % 2);
    ASSERT_EQ(__hfma(a, b, c).bits, exact_fused(a, b, c)) << a.bits << " * " << b.bits << " + " << c.bits;
  }
}

/// Products half way between two numbers of the format, and every addend far below: which way it goes, the addend says.
TYPED_TEST(HalfArithmetic, FusesWithOneRoundingWhereTheProductIsATie) {
  constexpr int digits = Shape16<TypeParam>::digits;
  const std::vector<TypeParam> all = every_exponent<TypeParam>();
  std::uint64_t decided = 0;
  for (int i = 1; i < digits; ++i) {
    for (int exponent = -12; exponent <= 12; ++exponent) {
      const auto a = TypeParam(std::ldexp(1.0f + std::ldexp(1.0f, -i), exponent));
      const auto b = TypeParam(1.0f + std::ldexp(1.0f, i - digits));
      const std::uint16_t tie = exact_product(a, b);
      for (const TypeParam c : all) {
        const std::uint16_t expected = exact_fused(a, b, c);
        ASSERT_EQ(__hfma(a, b, c).bits, expected) << a.bits << " * " << b.bits << " + " << c.bits;
        decided += expected != tie;
      }
    }
  }
  EXPECT_GE(decided, 1000u);
}

/// Exact results of 2^-1 and more below the smallest number's half, at it and above it.
TYPED_TEST(HalfArithmetic, UnderflowsGradually) {
  const auto smallest = at<TypeParam>(1), one = TypeParam(1.0f), third = TypeParam(1.0f / 3);
  const auto middle = TypeParam(0.5f);
  EXPECT_EQ(__hmul_rn(smallest, middle).bits, 0);
  EXPECT_EQ(__hfma(smallest, middle, smallest).bits, 2);
  EXPECT_EQ(__hfma(smallest, third, smallest).bits, 1);
  EXPECT_EQ(__hmul_rn(negated(smallest), middle).bits, 0x8000);
  EXPECT_EQ(__hfma(smallest, one, negated(smallest)).bits, 0);
}

TYPED_TEST(HalfArithmetic, MakesOneNanOfEveryNan) {
  const auto infinity = TypeParam(HUGE_VALF), zero = TypeParam(0.0f), odd_nan = at<TypeParam>(0xffff);
  for (const TypeParam nan : {__hadd_rn(infinity, negated(infinity)), __hmul_rn(infinity, zero),
                              __hfma(infinity, zero, infinity), __hfma(infinity, infinity, negated(infinity)),
                              __hadd_rn(odd_nan, zero), __hfma(zero, zero, odd_nan), __hmax(odd_nan, odd_nan)}) {
    EXPECT_EQ(nan.bits, 0x7fff);
  }
  EXPECT_EQ(__hfma(infinity, infinity, zero).bits, infinity.bits);
  EXPECT_EQ(__hmax(odd_nan, zero).bits, zero.bits);
  EXPECT_EQ(__hmax_nan(odd_nan, zero).bits, 0x7fff);
  EXPECT_EQ(__hmin_nan(zero, odd_nan).bits, 0x7fff);
  EXPECT_EQ(__hfma_sat(odd_nan, zero, zero).bits, 0);
}

/// The order of numbers is that of their bits, signs aside.
template <class S>
int place_of(S a) {
  return negative(a) ? -(a.bits & 0x7fff) : a.bits;
}

TYPED_TEST(HalfArithmetic, ComparesAsNumbersDo) {
  std::vector<TypeParam> all = every_exponent<TypeParam>();
  const auto nan = at<TypeParam>(0x7fff);
  for (std::size_t i = 0; i < all.size(); i += 7) {
    for (const TypeParam b : all) {
      const TypeParam a = all[i];
      const int x = place_of(a), y = place_of(b);
      ASSERT_TRUE(__heq(a, b) == (x == y) && __hne(a, b) == (x != y) && __hlt(a, b) == (x < y));
      ASSERT_TRUE(__hle(a, b) == (x <= y) && __hgt(a, b) == (x > y) && __hge(a, b) == (x >= y));
      ASSERT_EQ(place_of(__hmax(a, b)), std::max(x, y));
      ASSERT_EQ(place_of(__hmin(a, b)), std::min(x, y));
    }
    ASSERT_FALSE(__heq(all[i], nan) || __hne(all[i], nan) || __hlt(nan, all[i]) || __hge(nan, all[i]));
    ASSERT_TRUE(__hequ(all[i], nan) && __hneu(all[i], nan) && __hltu(nan, all[i]) && __hgeu(nan, all[i]));
  }
  const auto zero = TypeParam(0.0f);
  EXPECT_EQ(__hmax(negated(zero), zero).bits, 0);
  EXPECT_EQ(__hmin(zero, negated(zero)).bits, 0x8000);
}

TYPED_TEST(HalfArithmetic, OfOneOperandIsExactForAllNumbers) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const auto a = at<TypeParam>(bits);
    ASSERT_EQ(__hisnan(a), std::isnan(to_float(a)));
    ASSERT_EQ(__hisinf(a) != 0, std::isinf(to_float(a)));
    if (__hisnan(a)) continue;
    ASSERT_EQ(to_float(__hneg(a)), -to_float(a));
    ASSERT_EQ(to_float(__habs(a)), std::fabs(to_float(a)));
    ASSERT_EQ(__hadd_sat(a, TypeParam(0.0f)).bits,
              TypeParam(std::fmin(std::fmax(to_float(a), 0.0f), 1.0f)).bits & 0x7fff);
  }
}

}  // namespace
}  // namespace tally::half_arithmetic_test
