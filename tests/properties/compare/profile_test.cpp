#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/judge/verdict.hpp"

namespace tally::profile_test {
namespace {

const Place here{"local", "w0/m0/backward/d.w", "backward"};

/// Ones, each with a bound of one ulp.
oracle::Expected ones(Eigen::Index n) {
  oracle::Expected x{oracle::Matrix<long double>(1, n), oracle::Matrix<double>(1, n)};
  x.v.setConstant(1);
  x.e.setConstant(0x1p-23);
  return x;
}

Tensor all_ones(std::int64_t n) {
  Tensor tensor(Dtype::fp32, {n});
  for (std::int64_t i = 0; i < n; ++i) tensor.set(static_cast<std::size_t>(i), 1);
  return tensor;
}

TEST(Profile, IsMadeOnlyOfATensorThatFails) {
  EXPECT_EQ(judge(here, ones(4), all_ones(4)).profile.stretch, 0u);
  EXPECT_TRUE(judge(here, ones(4), all_ones(4)).elements_worst.empty());
}

TEST(Profile, SaysWhereErrorsAreInUlpsWithTheirSign) {
  Tensor got = all_ones(200);
  got.set(7, 1 + 3 * 0x1p-23);
  got.set(199, 1 - 8 * 0x1p-23);
  const TensorCheck check = judge(here, ones(200), got);
  const ElementProfile& profile = check.profile;
  EXPECT_EQ(profile.stretch, 3u);  // 200 elements in at most 96 stretches
  ASSERT_EQ(profile.high.size(), 67u);
  EXPECT_EQ(profile.high[2], 3);
  EXPECT_EQ(profile.low[2], 0);
  EXPECT_EQ(profile.low[66], -8);
  EXPECT_EQ(profile.error[66], 8);
  EXPECT_EQ(profile.bound[66], 1);
  EXPECT_EQ(profile.value[66], 1);
  EXPECT_EQ(profile.error[0], 0);
}

TEST(Profile, ListsTheWorstElementsFirstAndNoneThatIsRight) {
  Tensor got = all_ones(20);
  got.set(3, 1 + 2 * 0x1p-23);
  got.set(11, 1 + 6 * 0x1p-23);
  got.set(17, std::numeric_limits<double>::quiet_NaN());
  const TensorCheck check = judge(here, ones(20), got);
  ASSERT_EQ(check.elements_worst.size(), 3u);
  EXPECT_EQ(check.elements_worst[0].index, std::vector<std::int64_t>{17});
  EXPECT_EQ(check.elements_worst[1].index, std::vector<std::int64_t>{11});
  EXPECT_EQ(check.elements_worst[1].error, 6 * 0x1p-23);
  EXPECT_EQ(check.elements_worst[2].got, 1 + 2 * 0x1p-23);
  EXPECT_TRUE(std::isnan(check.profile.error[17]));
}

TEST(Profile, ListsNoMoreThanAFew) {
  Tensor got(Dtype::fp32, {4, 50});
  const TensorCheck check = judge(here, ones(200), got);
  ASSERT_EQ(check.elements_worst.size(), listed_elements);
  EXPECT_EQ(check.elements_worst[7].index, (std::vector<std::int64_t>{0, 7}));
}

TEST(Profile, MapsAMatrixInBlocksWithTheWorstRatioOfEach) {
  Tensor got(Dtype::fp32, {40, 5});
  for (std::size_t i = 0; i < 200; ++i) got.set(i, 1);
  got.set(39 * 5 + 4, 1 + 3 * 0x1p-23);
  got.set(2 * 5 + 1, 1 + 7 * 0x1p-23);
  got.set(3 * 5 + 1, 1 + 5 * 0x1p-23);
  got.set(10 * 5, std::numeric_limits<double>::quiet_NaN());
  const ElementMap map = judge(here, ones(200), got).profile.map;
  EXPECT_EQ(map.rows, 40u);
  EXPECT_EQ(map.columns, 5u);
  EXPECT_EQ(map.block_rows, 2u);  // 40 rows in at most 32 blocks
  EXPECT_EQ(map.block_columns, 1u);
  ASSERT_EQ(map.ratio.size(), 20u * 5u);
  EXPECT_EQ(map.ratio[19 * 5 + 4], 3);
  EXPECT_EQ(map.ratio[1 * 5 + 1], 7);
  EXPECT_TRUE(std::isinf(map.ratio[5 * 5]));
  EXPECT_EQ(std::count(map.ratio.begin(), map.ratio.end(), 0), 97);
  EXPECT_EQ(judge(here, ones(4), Tensor(Dtype::fp32, {4})).profile.map.rows, 0u);
}

}  // namespace
}  // namespace tally::profile_test
