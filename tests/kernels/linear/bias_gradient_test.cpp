#include <gtest/gtest.h>

#include <cmath>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally {
namespace {

std::vector<double> column_sums(const std::vector<double>& dy, std::int64_t rows, std::int64_t features) {
  const DeviceTensor from = on_device(dy), to = room(features);
  call("linear.bias_gradient", BiasGradientArguments{Dtype::fp32, from.data(), to.data(), rows, features});
  return values_of(to);
}

TEST(BiasGradient, AddsSmallIntegersExactlyAtEverySizeAroundWarpAndTileEdges) {
  for (const std::int64_t rows : {0, 1, 2, 31, 32, 63, 64, 65, 127, 130, 300}) {
    for (const std::int64_t features : {0, 1, 31, 32, 33, 65}) {
      std::vector<double> dy(static_cast<std::size_t>(rows * features));
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<double>(i % 13) - 5;
      const auto sums = column_sums(dy, rows, features);
      ASSERT_EQ(sums.size(), static_cast<std::size_t>(features));
      for (std::int64_t j = 0; j < features; ++j) {
        double expected = 0;
        for (std::int64_t i = 0; i < rows; ++i) expected += dy[static_cast<std::size_t>(i * features + j)];
        EXPECT_EQ(sums[static_cast<std::size_t>(j)], expected) << rows << " rows, column " << j << " of " << features;
      }
    }
  }
}

TEST(BiasGradient, StaysWithinTheBoundOfAnyOrderOfAdditions) {
  const std::int64_t rows = 257, features = 37;
  const auto dy = drawn(rows * features);
  const auto sums = column_sums(dy, rows, features);
  for (std::int64_t j = 0; j < features; ++j) {
    long double exact = 0, magnitudes = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      exact += static_cast<long double>(dy[static_cast<std::size_t>(i * features + j)]);
      magnitudes += std::fabs(static_cast<long double>(dy[static_cast<std::size_t>(i * features + j)]));
    }
    const double n_u = static_cast<double>(rows - 1) * u;  // gamma_{n-1}
    const auto error =
        static_cast<double>(std::fabs(static_cast<long double>(sums[static_cast<std::size_t>(j)]) - exact));
    EXPECT_LE(error, n_u / (1 - n_u) * static_cast<double>(magnitudes)) << "column " << j;
  }
}

TEST(BiasGradient, RoundsOnceIntoHalfPrecision) {
  const DeviceTensor from = on_device({2048, 1, 1}, Dtype::fp16), to = room(1, Dtype::fp16);
  call("linear.bias_gradient", BiasGradientArguments{Dtype::fp16, from.data(), to.data(), 3, 1});
  EXPECT_EQ(values_of(to), std::vector<double>{2050});  // adding in fp16 would stay at 2048
}

}  // namespace
}  // namespace tally
