#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::rms_norm_test {
namespace {

/// x² is 1 everywhere, and with eps 3 the root is 2: every number is exact.
TEST(RmsNormForward, HalvesOnesWhereEpsIsThree) {
  for (const std::int64_t features : {2, 32, 33, 64}) {
    std::vector<double> ones(static_cast<std::size_t>(features));
    for (std::size_t j = 0; j < ones.size(); ++j) ones[j] = j % 3 == 0 ? -1 : 1;
    std::vector<double> halves = ones;
    for (double& each : halves) each *= 1.5;  // (1 + 2) / 2
    const std::vector<double> twos(ones.size(), 2);
    const DeviceTensor x = on_device(ones), weight = on_device(twos), rstd = room(1), y = room(features);
    call("rms_norm.forward",
         NormForwardArguments{Dtype::fp32, x.data(), weight.data(), nullptr, nullptr, rstd.as<float>(), y.data(), 1,
                              features, static_cast<float>(1 / static_cast<double>(features)), 3.0f, 1.0f});
    EXPECT_EQ(values_of(rstd), std::vector<double>{0.5}) << features;
    EXPECT_EQ(values_of(y), halves) << features;
  }
}

TEST(RmsNormBackward, FollowsTheFormulaOnFourFeatures) {
  // rstd 1/2: h = (-1, 1, -1, 1) / 2, w' = 1 + (0, 1, 0, 1), dy = (4, 0, 0, 2): g = (4, 0, 0, 4), the mean of g h is
  // (-2 + 2) / 4 = 0 and dx = g / 2. With dy = (-4, 2, 0, 0) it is (2 + 2) / 4 = 1, and dx = (g - h) / 2.
  const DeviceTensor x = on_device({-1, 1, -1, 1, -1, 1, -1, 1}), dy = on_device({4, 0, 0, 2, -4, 2, 0, 0}),
                     weight = on_device({0, 1, 0, 1}), rstd = on_device({0.5, 0.5}), dx = room(8);
  call("rms_norm.backward", NormBackwardArguments{Dtype::fp32, x.data(), dy.data(), weight.data(), nullptr,
                                                  rstd.as<float>(), nullptr, nullptr, dx.data(), 2, 4, 0.25f, 1.0f});
  EXPECT_EQ(values_of(dx), (std::vector<double>{2, 0, 0, 2, -1.75, 1.75, 0.25, -0.25}));
}

TEST(RmsNormWeightGradient, SumsOverRowsWithEachRowsRoot) {
  const DeviceTensor x = on_device({1, 2, 3, 4}), dy = on_device({1, 10, 100, 1000}), rstd = on_device({1, 2}),
                     dw = room(2);
  call("rms_norm.weight_gradient", NormGradientArguments{Dtype::fp32, x.data(), dy.data(), nullptr, rstd.as<float>(),
                                                         dw.data(), nullptr, nullptr, nullptr, 2, 2});
  EXPECT_EQ(values_of(dw), (std::vector<double>{601, 8020}));  // h = (1, 2), (6, 8)
}

}  // namespace
}  // namespace tally::rms_norm_test
