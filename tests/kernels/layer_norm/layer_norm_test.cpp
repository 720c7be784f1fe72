#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally {
namespace {

std::vector<double> alternating(std::int64_t rows, std::int64_t features) {
  std::vector<double> x(static_cast<std::size_t>(rows * features));
  for (std::int64_t i = 0; i < rows * features; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<double>(i / features + (i % features % 2 == 0 ? -2 : 2));
  }
  return x;
}

/// Row i alternates i - 2 and i + 2: mean i, variance 4, rstd 1 / sqrt(4 + 12), y = -+ 1/2; exact for powers of two.
TEST(LayerNormForward, IsExactOnAlternatingRowsAtEverySizeAroundWarpEdges) {
  for (const std::int64_t features : {2, 16, 32, 64, 128, 256}) {
    for (const std::int64_t rows : {0, 1, 5, 130}) {
      const DeviceTensor x = on_device(alternating(rows, features)), mean = room(rows), rstd = room(rows);
      const DeviceTensor y = room(rows * features);
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
                                .eps = 12});
      const auto means = values_of(mean), scales = values_of(rstd), out = values_of(y);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(features);
        ASSERT_EQ(means[row], static_cast<double>(row)) << features << " features";
        ASSERT_EQ(scales[row], 0.25) << features << " features";
        ASSERT_EQ(out[i], i % static_cast<std::size_t>(features) % 2 == 0 ? -0.5 : 0.5) << features << " features";
      }
    }
  }
}

/// h alternates -1 and 1 (mean 0, rstd 1) and so does g = dy w: m1 = 0, m2 = 1, dx = g - h = 0; with dy of one sign
/// m1 = g, m2 = 0 and dx = 0 as well. Their sum 2 h + 1 leaves nothing either: dx is orthogonal to both.
TEST(LayerNormBackward, TakesOutWhatTheStatisticsAbsorb) {
  for (const std::int64_t features : {2, 32, 64, 128}) {
    std::vector<double> h(static_cast<std::size_t>(features)), dy = h;
    for (std::size_t j = 0; j < h.size(); ++j) {
      h[j] = j % 2 == 0 ? -1 : 1;
      dy[j] = 2 * h[j] + 1;
    }
    const DeviceTensor x = on_device(h), gradient = on_device(dy), mean = on_device({0}), rstd = on_device({1});
    const DeviceTensor dx = room(features);
    call("layer_norm.backward", NormBackwardArguments{Dtype::fp32, x.data(), gradient.data(), nullptr, mean.as<float>(),
                                                      rstd.as<float>(), nullptr, nullptr, dx.data(), 1, features,
                                                      static_cast<float>(1 / static_cast<double>(features))});
    EXPECT_EQ(values_of(dx), std::vector<double>(h.size(), 0.0)) << features;
  }
}

TEST(LayerNormBackward, FollowsTheFormulaOnFourFeatures) {
  // h = (-1, 1, -1, 1), w = (1, 2, 1, 2), dy = (4, 0, 0, 2): g = (4, 0, 0, 4), m1 = 2, m2 = (-4 + 4) / 4 = 0.
  const DeviceTensor x = on_device({-1, 1, -1, 1}), dy = on_device({4, 0, 0, 2}), weight = on_device({1, 2, 1, 2});
  const DeviceTensor mean = on_device({0}), rstd = on_device({1}), dx = room(4);
  call("layer_norm.backward", NormBackwardArguments{Dtype::fp32, x.data(), dy.data(), weight.data(), mean.as<float>(),
                                                    rstd.as<float>(), nullptr, nullptr, dx.data(), 1, 4, 0.25f});
  EXPECT_EQ(values_of(dx), (std::vector<double>{2, -2, -2, 2}));
}

TEST(LayerNormParameterGradients, SumOverRowsWithEachRowsStatistics) {
  const DeviceTensor x = on_device({1, 2, 3, 4}), dy = on_device({1, 10, 100, 1000});
  const DeviceTensor mean = on_device({1, 2}), rstd = on_device({1, 2}), dw = room(2), db = room(2);
  call("layer_norm.parameter_gradients",
       NormGradientArguments{Dtype::fp32, x.data(), dy.data(), mean.as<float>(), rstd.as<float>(), dw.data(), db.data(),
                             nullptr, nullptr, 2, 2});
  EXPECT_EQ(values_of(dw), (std::vector<double>{200, 4010}));  // h = (0, 1), (2, 4)
  EXPECT_EQ(values_of(db), (std::vector<double>{101, 1010}));
}

}  // namespace
}  // namespace tally
