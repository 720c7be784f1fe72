// The families of drawings that are classes of bit patterns hold what they promise, in every format.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/case/io.hpp"
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/format.hpp"

namespace tally::drawn_bit_patterns_test {
namespace {

constexpr std::int64_t count = 512;

/// Draws the family in every format and hands over each tensor.
void for_each_format(const std::string& family, const std::function<void(const Tensor&, int p)>& test) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    Tensor tensor(dtype, {count});
    draw(tensor, {1, 77, family});
    test(tensor, oracle::format_of(dtype).p);
  }
}

/// The significand as an integer of p bits.
std::int64_t significand(double value, int p) {
  int exponent = 0;
  return static_cast<std::int64_t>(std::ldexp(std::fabs(std::frexp(value, &exponent)), p));
}

TEST(DrawnBitPatterns, PowersArePowersOfTwoAndBothNeighbours) {
  for_each_format("powers", [](const Tensor& tensor, int p) {
    int below = 0, at = 0, above = 0;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      const std::int64_t bits = significand(tensor.value(i), p), lowest = std::int64_t{1} << (p - 1);
      below += bits == 2 * lowest - 1, at += bits == lowest, above += bits == lowest + 1;
    }
    EXPECT_EQ(below + at + above, count);
    EXPECT_TRUE(below > count / 6 && at > count / 6 && above > count / 6) << below << " " << at << " " << above;
  });
}

TEST(DrawnBitPatterns, HalfwayCasesLieBetweenTwoNumbersOfTheNextNarrowerFormat) {
  for_each_format("halfway", [](const Tensor& tensor, int p) {
    const int narrower = p == 24 ? 11 : p == 11 ? 8 : 4;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      const std::int64_t bits = significand(tensor.value(i), p), dropped = std::int64_t{1} << (p - narrower);
      ASSERT_EQ(bits % dropped, dropped / 2) << tensor.value(i);
    }
  });
}

TEST(DrawnBitPatterns, PairsCancelToAnUlpOrAll) {
  for_each_format("pairs", [](const Tensor& tensor, int) {
    int exact = 0, one_ulp = 0;
    const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(tensor.dtype) - 1);
    for (std::size_t i = 0; i < tensor.elements(); i += 2) {
      const std::uint64_t first = tensor.bits(i), second = tensor.bits(i + 1) ^ sign;
      exact += first == second, one_ulp += first == second + 1;
    }
    EXPECT_EQ(exact + one_ulp, count / 2);
    EXPECT_TRUE(exact > count / 8 && one_ulp > count / 8) << exact << " " << one_ulp;
  });
}

TEST(DrawnBitPatterns, SignedZerosAreHalfOfTheValuesAndOfBothSigns) {
  for_each_format("zeros_signed", [](const Tensor& tensor, int) {
    int positive = 0, negative = 0;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      if (tensor.value(i) == 0) ++(std::signbit(tensor.value(i)) ? negative : positive);
    }
    EXPECT_TRUE(positive > count / 6 && negative > count / 6) << positive << " " << negative;
  });
}

TEST(DrawnBitPatterns, OutliersAreFewAndFar) {
  for_each_format("outlier", [](const Tensor& tensor, int) {
    int far = 0;
    for (std::size_t i = 0; i < tensor.elements(); ++i) far += std::fabs(tensor.value(i)) > 6;  // beyond any normal
    EXPECT_TRUE(far > 0 && far < count / 8) << far;
  });
}

}  // namespace
}  // namespace tally::drawn_bit_patterns_test
