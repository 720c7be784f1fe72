// The measurement itself, on sums whose orders are written out here.
#include "tests/kernels/reduction/measured_additions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <span>

namespace tally::measured_additions_test {
namespace {

/// In fp32.
std::vector<float> values_of(const Addends& addends) {
  const std::vector<double> values = plain(addends);
  return {values.begin(), values.end()};
}

double in_order(const Addends& addends) {
  float sum = 0;
  for (const float value : values_of(addends)) sum += value;
  return sum;
}

float pairs(std::span<const float> values) {
  if (values.size() == 1) return values[0];
  const std::size_t half = (values.size() + 1) / 2;
  return pairs(values.first(half)) + pairs(values.subspan(half));
}

double pairwise(const Addends& addends) { return pairs(values_of(addends)); }

TEST(MeasuredAdditions, CountThoseOfASumInOrder) {
  for (const std::size_t n : {1, 2, 3, 30}) {
    EXPECT_EQ(additions_passed(in_order, n, 0), n - 1) << n;
    for (std::size_t i = 1; i < n; ++i) EXPECT_EQ(additions_passed(in_order, n, i), n - i) << i << " of " << n;
  }
}

TEST(MeasuredAdditions, CountThoseOfASumInPairs) {
  for (const std::size_t n : {1, 2, 3, 5, 8, 9, 33, 64}) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < n; ++i) most = std::max(most, additions_passed(pairwise, n, i));
    EXPECT_EQ(most, std::bit_width(n - 1)) << n;
  }
}

TEST(MeasuredAdditions, CountNoMoreThanThoseWithTheAddendsAskedFor) {
  EXPECT_EQ(additions_passed(in_order, 30, 0, {1, 2, 20}), 3u);
  EXPECT_EQ(additions_passed(pairwise, 64, 0, {1, 2, 3, 4}), 3u);  // the pair of 2 and 3 is one
}

}  // namespace
}  // namespace tally::measured_additions_test
