#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::layer_norm_test {
namespace {

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
}  // namespace tally::layer_norm_test
