#include "kernels/device/detmath.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/device/executor/schedule.hpp"
#include "tests/kernels/device/detmath_accuracy.hpp"

namespace tally::detmath_test {
namespace {

// The header promises 0.51. MPFR's value has 64 bits and is within two of their ulps: 2^-39 ulp of fp32.
constexpr long double promised = 0.51L, reference_error = 0x1p-39L;

class Exact {
 public:
  Exact() { mpfr_inits2(64, x_, y_, nullptr); }
  ~Exact() { mpfr_clears(x_, y_, nullptr); }
  Exact(const Exact&) = delete;
  long double operator()(const Function& f, float x) {
    mpfr_set_flt(x_, x, MPFR_RNDN);
    f.exact(y_, x_, MPFR_RNDN);
    return mpfr_get_ld(y_, MPFR_RNDN);
  }

 private:
  mpfr_t x_, y_;
};

struct Worst {
  long double ulps = 0;
  float at = 0;
  std::size_t compared = 0;
};

void compare(const Function& f, float x, Exact& exact, Worst& worst) {
  const long double distance = ulps(f.computed(x), exact(f, x));
  ++worst.compared;
  if (!(distance <= worst.ulps)) worst.ulps = distance, worst.at = x;
}

class Detmath : public testing::TestWithParam<Function> {};

TEST_P(Detmath, IsWithinItsPromiseForEveryExponentAndSign) {
  executor::Schedule random(1);
  Exact exact;
  Worst worst;
  for (std::uint32_t high = 0; high < 512; ++high) {
    for (std::uint32_t i = 0; i < 200; ++i) {
      const std::uint32_t low = i == 0 ? 0 : i == 1 ? 0x7fffffu : static_cast<std::uint32_t>(random.next() >> 41);
      compare(GetParam(), std::bit_cast<float>(high << 23 | low), exact, worst);
    }
  }

  EXPECT_EQ(worst.compared, 512u * 200u);
  EXPECT_LE(worst.ulps, promised + reference_error) << "at " << std::hexfloat << worst.at;
  RecordProperty("worst_ulps", std::to_string(static_cast<double>(worst.ulps)));
}

TEST_P(Detmath, IsWithinItsPromiseWhereItsPiecesMeet) {
  Exact exact;
  Worst worst;
  for (const float centre :
       {0.17328679f, 0.34657359f, 1.0f, 4.0f, 20.0f, 0.70710678f, 1.41421356f, 88.7228394f, -87.3365447f, -103.972084f,
        128.0f, 3.9192059f, 9.0109138f, 0.25f, 0.5f, 126.0f, 149.0f, 150.0f, 160.0f}) {
    for (const float sign : {1.0f, -1.0f}) {
      const auto bits = std::bit_cast<std::uint32_t>(centre * sign);
      for (std::uint32_t i = 0; i < 400; ++i) compare(GetParam(), std::bit_cast<float>(bits + i - 200), exact, worst);
    }
  }

  EXPECT_LE(worst.ulps, promised + reference_error) << "at " << std::hexfloat << worst.at;
}

INSTANTIATE_TEST_SUITE_P(Functions, Detmath, testing::ValuesIn(functions()),
                         [](const auto& it) { return it.param.name; });

TEST(DetmathSpecialValues, KeepTheSignOfZero) {
  EXPECT_TRUE(std::signbit(det_tanh(-0.0f)));
  EXPECT_TRUE(std::signbit(det_erf(-0.0f)));
  EXPECT_FALSE(std::signbit(det_tanh(0.0f)));
  EXPECT_FALSE(std::signbit(det_erf(0.0f)));
}

/// So that weights of attention which are powers of two stay exact where the exponential is folded.
TEST(DetmathSpecialValues, PowersOfTwoAreExact) {
  for (int power = -149; power <= 127; ++power)
    EXPECT_EQ(det_exp2(static_cast<float>(power)), std::ldexp(1.0f, power)) << power;
}

TEST(DetmathSpecialValues, AreInfiniteOrNanWhereTheFunctionIs) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

  EXPECT_EQ(det_exp(infinity), infinity);
  EXPECT_EQ(det_exp(-infinity), 0.0f);
  EXPECT_EQ(det_exp2(infinity), infinity);
  EXPECT_EQ(det_exp2(-infinity), 0.0f);
  EXPECT_EQ(det_log(0.0f), -infinity);
  EXPECT_EQ(det_log(infinity), infinity);
  EXPECT_TRUE(std::isnan(det_log(-1.0f)));
  EXPECT_TRUE(std::isnan(det_log(-infinity)));
  EXPECT_EQ(det_tanh(-infinity), -1.0f);
  EXPECT_EQ(det_erf(infinity), 1.0f);
  EXPECT_EQ(det_rsqrt(0.0f), infinity);
  for (const Function& f : functions()) EXPECT_TRUE(std::isnan(f.computed(nan))) << f.name;
}

TEST(Ulps, CountAMissedInfinityAsInfinitelyWrong) {
  EXPECT_EQ(ulps(std::numeric_limits<float>::max(), 0x1p128L), HUGE_VALL);
  EXPECT_EQ(ulps(1.0f, std::numeric_limits<long double>::quiet_NaN()), HUGE_VALL);
  EXPECT_EQ(ulps(1.0f, 1.0L + 0x1p-24L), 0.5L);
  EXPECT_EQ(ulps(0x1p-149f, 0.0L), 1.0L);
}

}  // namespace
}  // namespace tally::detmath_test
