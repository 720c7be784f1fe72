#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::bias_gradient_test {
namespace {

std::vector<double> column_sums(const std::string& variant, const std::vector<double>& dy, std::int64_t rows,
                                std::int64_t features, Dtype storage = Dtype::fp32) {
  const DeviceTensor from = on_device(dy, storage), to = room(features, storage);
  const DeviceTensor partial = room(std::max<std::int64_t>(bias_gradient_chunks(rows), 1) * features);
  const BiasGradientArguments arguments{storage, from.data(), to.data(), rows, features, partial.as<float>()};
  call("linear.bias_gradient", arguments, variant);
  return values_of(to);
}

class BiasGradient : public OfEveryVariant {};

TEST_P(BiasGradient, AddsSmallIntegersExactlyAtEverySizeAroundWarpAndTileEdges) {
  for (const std::int64_t rows : {0, 1, 2, 31, 32, 63, 64, 65, 127, 130, 300}) {
    for (const std::int64_t features : {0, 1, 31, 32, 33, 65}) {
      std::vector<double> dy(static_cast<std::size_t>(rows * features));
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<double>(i % 13) - 5;
      const auto sums = column_sums(variant(), dy, rows, features);
      ASSERT_EQ(sums.size(), static_cast<std::size_t>(features));
      for (std::int64_t j = 0; j < features; ++j) {
        double expected = 0;
        for (std::int64_t i = 0; i < rows; ++i) expected += dy[static_cast<std::size_t>(i * features + j)];
        EXPECT_EQ(sums[static_cast<std::size_t>(j)], expected) << rows << " rows, column " << j << " of " << features;
      }
    }
  }
}

TEST_P(BiasGradient, StaysWithinTheBoundOfAnyOrderOfAdditions) {
  const std::int64_t rows = 257, features = 37;
  const auto dy = drawn(rows * features);
  const auto sums = column_sums(variant(), dy, rows, features);
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

TEST_P(BiasGradient, RoundsOnceIntoHalfPrecision) {
  const auto sums = column_sums(variant(), {2048, 1, 1}, 3, 1, Dtype::fp16);
  EXPECT_EQ(sums, std::vector<double>{2050});  // adding in fp16 would stay at 2048
}

INSTANTIATE_TEST_SUITE_P(Variants, BiasGradient, testing::ValuesIn(every_variant("linear.bias_gradient")),
                         variant_name);

/// The two halves of the smallest normal number: their sum is normal, but each is flushed by an atomic and kept by all
/// others.
TEST(BiasGradientByAtomics, LosesSubnormalAddendsAsItsClaimSays) {
  std::vector<double> dy(2 * bias_gradient_chunk, 0);
  dy.front() = dy.back() = 0x1p-127;
  const auto variants = every_variant("linear.bias_gradient");
  ASSERT_FALSE(variants.empty());
  for (const std::string& variant : variants) {
    const KernelClaim& claim = find_kernel("linear.bias_gradient", ExecutorKind::host, variant).claim;
    const auto sums = column_sums(variant, dy, 2 * bias_gradient_chunk, 1);
    EXPECT_EQ(sums[0], claim.global_float_atomics ? 0 : 0x1p-126) << variant;
  }
}

}  // namespace
}  // namespace tally::bias_gradient_test
