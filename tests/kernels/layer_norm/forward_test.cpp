// Every variant of layer norm's forward, against exact values and within the bound of the algorithm it claims.
#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/claimed_moments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::forward_test {
namespace {

struct Normalised {
  std::vector<double> mean, rstd, y;
};

Normalised normalise(const std::string& variant, const std::vector<double>& values, std::int64_t rows,
                     std::int64_t features, float eps) {
  const DeviceTensor x = on_device(values), mean = room(rows), rstd = room(rows), y = room(rows * features);
  call("layer_norm.forward",
       NormForwardArguments{.storage = Dtype::fp32,
                            .x = x.data(),
                            .weight = nullptr,
                            .bias = nullptr,
                            .mean = mean.as<float>(),
                            .rstd = rstd.as<float>(),
                            .y = y.data(),
                            .rows = rows,
                            .features = features,
                            .inverse_features = static_cast<float>(1 / static_cast<double>(features)),
                            .eps = eps},
       variant);
  return {values_of(mean), values_of(rstd), values_of(y)};
}

std::vector<double> alternating(std::int64_t rows, std::int64_t features) {
  std::vector<double> x(static_cast<std::size_t>(rows * features));
  for (std::int64_t i = 0; i < rows * features; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<double>(i / features + (i % features % 2 == 0 ? -2 : 2));
  }
  return x;
}

/// Row i alternates i - 2 and i + 2: mean i, variance 4, rstd 1 / sqrt(4 + 12), y = -+ 1/2; exact for powers of two,
/// but for Welford's weights 1/n, which round.
TEST(LayerNormForwardBySums, IsExactOnAlternatingRowsAtEverySizeAroundWarpEdges) {
  for (const std::string variant : {"one_pass", "two_pass"}) {
    for (const std::int64_t features : {2, 16, 32, 64, 128, 256}) {
      for (const std::int64_t rows : {0, 1, 5, 130}) {
        const Normalised got = normalise(variant, alternating(rows, features), rows, features, 12);
        for (std::size_t i = 0; i < got.y.size(); ++i) {
          const std::size_t row = i / static_cast<std::size_t>(features);
          ASSERT_EQ(got.mean[row], static_cast<double>(row)) << features << " features by " << variant;
          ASSERT_EQ(got.rstd[row], 0.25) << features << " features by " << variant;
          ASSERT_EQ(got.y[i], i % 2 == 0 ? -0.5 : 0.5) << features << " features by " << variant;
        }
      }
    }
  }
}

class LayerNormForward : public OfEveryVariant {};

TEST_P(LayerNormForward, StaysWithinTheBoundOfItsAlgorithm) {
  for (const std::int64_t features : {1, 2, 31, 32, 33, 50, 64, 65, 97, 300}) {
    for (const double shift : {0.0, 1.0, 1000.0}) {
      const std::int64_t rows = 7;
      std::vector<double> x = drawn(rows * features);
      for (double& value : x) value = static_cast<float>(value + shift);
      const Normalised got = normalise(variant(), x, rows, features, 0.125f);
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::vector<double> row(x.begin() + i * features, x.begin() + (i + 1) * features);
        const auto at = static_cast<std::size_t>(i);
        expect_moments("layer_norm.forward", variant(), row, 0.125, got.mean[at], nullptr, got.rstd[at]);
      }
    }
  }
}

/// The row's first element is the only one apart from the others: a lane that is left out, or taken in twice, shows.
TEST_P(LayerNormForward, CountsEveryElementOnceInEveryLane) {
  for (const std::int64_t features : {33, 40, 63, 64, 96, 97}) {
    for (std::int64_t apart = 0; apart < features; ++apart) {
      std::vector<double> x(static_cast<std::size_t>(features), 1);
      x[static_cast<std::size_t>(apart)] = 100;
      const Normalised got = normalise(variant(), x, 1, features, 1);
      expect_moments("layer_norm.forward", variant(), x, 1, got.mean[0], nullptr, got.rstd[0]);
    }
  }
}

TEST_P(LayerNormForward, ShowsANaNInItsRowOnly) {
  for (const std::int64_t features : {3, 100}) {
    std::vector<double> x(static_cast<std::size_t>(2 * features), 1);
    x.back() = std::numeric_limits<double>::quiet_NaN();
    const Normalised got = normalise(variant(), x, 2, features, 1);
    EXPECT_TRUE(std::isnan(got.mean[1]) && std::isnan(got.rstd[1]) && std::isnan(got.y.back())) << features;
    EXPECT_EQ(got.rstd[0], 1) << features;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LayerNormForward, testing::ValuesIn(every_variant("layer_norm.forward")),
                         variant_name);

}  // namespace
}  // namespace tally::forward_test
