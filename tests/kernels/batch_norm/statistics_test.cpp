// Every variant of the batch statistics, against exact values and within the bound of the algorithm it claims.
#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/claimed_moments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::statistics_test {
namespace {

struct Statistics {
  std::vector<double> mean, var, rstd;
};

Statistics statistics_of(const std::string& variant, const std::vector<double>& x, std::int64_t rows,
                         std::int64_t features, float eps) {
  const DeviceTensor from = on_device(x), mean = room(features), var = room(features), rstd = room(features);
  call("batch_norm.statistics",
       BatchNormStatisticsArguments{.storage = Dtype::fp32,
                                    .x = from.data(),
                                    .running_mean = nullptr,
                                    .running_var = nullptr,
                                    .mean = mean.as<float>(),
                                    .var = var.as<float>(),
                                    .rstd = rstd.as<float>(),
                                    .rows = rows,
                                    .features = features,
                                    .inverse_rows = static_cast<float>(1 / static_cast<double>(rows)),
                                    .eps = eps},
       variant);
  return {values_of(mean), values_of(var), values_of(rstd)};
}

/// Column j alternates j - 2 and j + 2: mean j, variance 4, and 1 / sqrt(4 + 12) = 1/4.
std::vector<double> alternating(std::int64_t rows, std::int64_t features) {
  std::vector<double> x(static_cast<std::size_t>(rows * features));
  for (std::int64_t i = 0; i < rows * features; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<double>(i % features + ((i / features) % 2 == 0 ? -2 : 2));
  }
  return x;
}

/// Welford's weights 1/n round.
TEST(BatchNormStatisticsBySums, AreExactOnAlternatingColumnsAtEverySizeAroundWarpAndTileEdges) {
  for (const std::string variant : {"one_pass", "two_pass"}) {
    for (const std::int64_t rows : {2, 32, 64, 128, 512}) {
      for (const std::int64_t features : {1, 31, 32, 33, 70}) {
        const Statistics got = statistics_of(variant, alternating(rows, features), rows, features, 12);
        for (std::size_t j = 0; j < static_cast<std::size_t>(features); ++j) {
          ASSERT_EQ(got.mean[j], static_cast<double>(j)) << rows << " rows, column " << j << " by " << variant;
          ASSERT_EQ(got.var[j], 4) << rows << " rows, column " << j << " by " << variant;
          ASSERT_EQ(got.rstd[j], 0.25) << rows << " rows, column " << j << " by " << variant;
        }
      }
    }
  }
}

class BatchNormStatistics : public OfEveryVariant {};

TEST_P(BatchNormStatistics, StayWithinTheBoundOfTheirAlgorithm) {
  for (const std::int64_t rows : {1, 2, 3, 63, 64, 65, 71, 300}) {
    for (const double shift : {0.0, 1.0, 1000.0}) {
      const std::int64_t features = 33;
      std::vector<double> x = drawn(rows * features);
      for (double& value : x) value = static_cast<float>(value + shift);
      const Statistics got = statistics_of(variant(), x, rows, features, 0.125f);
      for (std::int64_t j = 0; j < features; ++j) {
        std::vector<double> column;
        for (std::int64_t i = 0; i < rows; ++i) column.push_back(x[static_cast<std::size_t>(i * features + j)]);
        const auto at = static_cast<std::size_t>(j);
        expect_moments("batch_norm.statistics", variant(), column, 0.125, got.mean[at], &got.var[at], got.rstd[at]);
      }
    }
  }
}

TEST_P(BatchNormStatistics, OfOneValueManyTimesHaveNoVariance) {
  for (const std::int64_t rows : {1, 5, 100}) {
    const Statistics got =
        statistics_of(variant(), std::vector<double>(static_cast<std::size_t>(rows), 3), rows, 1, 0.25);
    EXPECT_EQ(got.mean[0], 3);
    EXPECT_EQ(got.var[0], 0);
    EXPECT_EQ(got.rstd[0], 2);
  }
}

/// One pass over squares cancels here: what is left of the variance may be anything down to the cut at 0.
TEST_P(BatchNormStatistics, SurviveAMeanFarAboveTheSpreadUnlessSquaresCancel) {
  const Statistics got = statistics_of(variant(), {1048577, 1048575}, 2, 1, 0);
  EXPECT_EQ(got.var[0], variant() == "one_pass" ? 0 : 1);
}

/// The bounds tell the algorithms apart: what one pass leaves is outside of what two passes may.
TEST(BatchNormStatisticsByOnePass, LeaveTheBoundOfTwoPassesWhereSquaresCancel) {
  const std::int64_t rows = 65;
  std::vector<double> x = drawn(rows);
  for (double& value : x) value = static_cast<float>(value + 1000);
  const Claims claims;
  KernelClaim two_pass;
  two_pass.algorithm = "two_pass";
  std::vector<oracle::Bounded> sample;
  for (const double value : x) sample.push_back({value, 0});
  const oracle::Moments expected = oracle::sample_moments(oracle::declared({}, claims), two_pass, sample, {0.125, 0});
  const double by_one = statistics_of("one_pass", x, rows, 1, 0.125f).var[0];
  const double by_two = statistics_of("two_pass", x, rows, 1, 0.125f).var[0];
  EXPECT_GT(std::fabs(by_one - expected.var.v), expected.var.e);
  EXPECT_LE(std::fabs(by_two - expected.var.v), expected.var.e);
}

TEST_P(BatchNormStatistics, ShowANaNInItsColumnOnly) {
  for (const std::int64_t rows : {3, 100}) {
    std::vector<double> x(static_cast<std::size_t>(2 * rows), 1);
    x[x.size() - 2] = std::numeric_limits<double>::quiet_NaN();
    const Statistics got = statistics_of(variant(), x, rows, 2, 1);
    EXPECT_TRUE(std::isnan(got.mean[0]) && std::isnan(got.var[0]) && std::isnan(got.rstd[0])) << rows;
    EXPECT_EQ(got.rstd[1], 1) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, BatchNormStatistics, testing::ValuesIn(every_variant("batch_norm.statistics")),
                         variant_name);

}  // namespace
}  // namespace tally::statistics_test
