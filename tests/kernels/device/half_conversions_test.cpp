// Conversions to and from the 16-bit formats, in every direction of rounding.
#include "kernels/device/host/half_conversions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/device/exact_sixteen.hpp"

namespace tally::half_conversions_test {
namespace {

constexpr RoundingMode directions[] = {RoundingMode::nearest, RoundingMode::zero, RoundingMode::up, RoundingMode::down};

template <class S>
class HalfConversions : public testing::Test {
 public:
  /// By the word for this direction.
  static S from_float_word(float x, RoundingMode how);
  static S from_int_word(int x, RoundingMode how);
};

#define TALLY_WORDS(S, name)                                         \
  template <>                                                        \
  S HalfConversions<S>::from_float_word(float x, RoundingMode how) { \
    return how == RoundingMode::nearest ? __float2##name##_rn(x)     \
           : how == RoundingMode::zero  ? __float2##name##_rz(x)     \
           : how == RoundingMode::up    ? __float2##name##_ru(x)     \
                                        : __float2##name##_rd(x);       \
  }                                                                  \
  template <>                                                        \
  S HalfConversions<S>::from_int_word(int x, RoundingMode how) {     \
    return how == RoundingMode::nearest ? __int2##name##_rn(x)       \
           : how == RoundingMode::zero  ? __int2##name##_rz(x)       \
           : how == RoundingMode::up    ? __int2##name##_ru(x)       \
                                        : __int2##name##_rd(x);         \
  }
TALLY_WORDS(half, half)
TALLY_WORDS(bfloat16, bfloat16)

using Formats = testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(HalfConversions, Formats);

/// A finite float as a multiple of 2^-149, rounded.
template <class S>
std::uint16_t expected_from(float x, RoundingMode how) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t exponent = bits >> 23 & 0xffu, fraction = bits & 0x7fffffu;
  Whole whole = exponent == 0 ? Whole(fraction) : Whole(fraction | 0x800000u) << (exponent - 1);
  if (bits >> 31 != 0) whole = -whole;
  return round_whole<S>(whole, -149, how, bits >> 31 != 0);
}

TYPED_TEST(HalfConversions, RoundFloatsInEveryDirection) {
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 60013) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(x)) continue;
    for (const RoundingMode how : directions) {
      ASSERT_EQ(TestFixture::from_float_word(x, how).bits, expected_from<TypeParam>(x, how)) << bits;
    }
  }
}

TYPED_TEST(HalfConversions, RoundAtAndBesideEveryNumberAndEveryTie) {
  for (std::uint32_t bits = 0; bits < 1u << 16; bits += 3) {
    const float value = to_float(std::bit_cast<TypeParam>(static_cast<std::uint16_t>(bits)));
    const float next = to_float(std::bit_cast<TypeParam>(static_cast<std::uint16_t>(bits + 1)));
    for (const float x : {value, 0.5f * value + 0.5f * next}) {
      for (const float y : {x, std::nextafter(x, -HUGE_VALF), std::nextafter(x, HUGE_VALF)}) {
        if (!std::isfinite(y)) continue;
        for (const RoundingMode how : directions) {
          ASSERT_EQ(TestFixture::from_float_word(y, how).bits, expected_from<TypeParam>(y, how)) << y;
        }
      }
    }
  }
}

TYPED_TEST(HalfConversions, KeepNanAndInfinityInEveryDirection) {
  for (const RoundingMode how : directions) {
    EXPECT_EQ(TestFixture::from_float_word(std::numeric_limits<float>::quiet_NaN(), how).bits, 0x7fff);
    EXPECT_EQ(TestFixture::from_float_word(-HUGE_VALF, how).bits, TypeParam(-HUGE_VALF).bits);
  }
}

TYPED_TEST(HalfConversions, RoundIntegersOnce) {
  for (std::int64_t i = std::numeric_limits<int>::min(); i <= std::numeric_limits<int>::max(); i += 99991) {
    const int x = static_cast<int>(i);
    for (const RoundingMode how : directions) {
      ASSERT_EQ(TestFixture::from_int_word(x, how).bits, round_whole<TypeParam>(Whole(x) << 149, -149, how, false))
          << x;
    }
  }
}

TYPED_TEST(HalfConversions, RoundDoublesOnce) {
  // Just above a tie by less than fp32 can say: by way of fp32 it would be the tie, and go to the even number below.
  const double tie = 1 + std::ldexp(1.0, -Shape16<TypeParam>::digits);
  EXPECT_EQ(from_double<TypeParam>(tie + 0x1p-50).bits, TypeParam(1.0f).bits + 1);
  EXPECT_EQ(from_double<TypeParam>(tie).bits, TypeParam(1.0f).bits);
  EXPECT_EQ(from_double<TypeParam>(0x1p-1000).bits, 0);
  EXPECT_EQ(from_double<TypeParam>(0x1p-1000, RoundingMode::up).bits, 1);
}

TYPED_TEST(HalfConversions, ToIntegersAreThoseOfBinary64) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    const auto a = std::bit_cast<TypeParam>(static_cast<std::uint16_t>(bits));
    const double x = static_cast<double>(to_float(a));
    if (!(std::fabs(x) < 0x1p31)) continue;
    ASSERT_EQ(to_integer<int>(a, RoundingMode::nearest), std::lrint(x));
    ASSERT_EQ(to_integer<int>(a, RoundingMode::zero), static_cast<int>(x));
    ASSERT_EQ(to_integer<int>(a, RoundingMode::up), -to_integer<int>(negated(a), RoundingMode::down));
    ASSERT_EQ(to_integer<int>(a, RoundingMode::down), static_cast<int>(x) - (x < 0 && x != static_cast<int>(x)));
    ASSERT_EQ(to_integer<unsigned>(a, RoundingMode::zero), x < 0 ? 0u : static_cast<unsigned>(x));
  }
  const auto infinity = TypeParam(HUGE_VALF), nan = std::bit_cast<TypeParam>(canonical_nan);
  EXPECT_EQ(to_integer<int>(infinity, RoundingMode::zero), std::numeric_limits<int>::max());
  EXPECT_EQ(to_integer<int>(negated(infinity), RoundingMode::zero), std::numeric_limits<int>::min());
  EXPECT_EQ(to_integer<unsigned>(infinity, RoundingMode::zero), std::numeric_limits<unsigned>::max());
  EXPECT_EQ(to_integer<int>(nan, RoundingMode::zero), 0);
}

TEST(HalfPairs, DoToBothPartsWhatTheSingleWordsDo) {
  const half a(1.5f), b(-0.1f), c(300.0f);
  const __half2 sum = __hadd2_rn(__halves2half2(a, b), __half2half2(c)), fused = __hfma2(sum, sum, __half2half2(b));
  EXPECT_EQ(sum.x.bits, __hadd_rn(a, c).bits);
  EXPECT_EQ(sum.y.bits, __hadd_rn(b, c).bits);
  EXPECT_EQ(__low2half(fused).bits, __hfma(sum.x, sum.x, b).bits);
  EXPECT_EQ(__high2float(fused), to_float(__hfma(sum.y, sum.y, b)));
  EXPECT_EQ(__hmax2(sum, fused).y.bits, __hmax(sum.y, fused.y).bits);
}

}  // namespace
}  // namespace tally::half_conversions_test
