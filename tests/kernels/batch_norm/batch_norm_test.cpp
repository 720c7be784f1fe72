#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::batch_norm_test {
namespace {

TEST(BatchNormForward, NormalisesThenScalesAndShifts) {
  const DeviceTensor x = on_device({1, 5, 3, 9}), mean = on_device({2, 7}), rstd = on_device({1, 0.5});
  const DeviceTensor weight = on_device({3, 2}), bias = on_device({10, 20}), y = room(4);
  NormForwardArguments arguments{.storage = Dtype::fp32,
                                 .x = x.data(),
                                 .weight = weight.data(),
                                 .bias = bias.data(),
                                 .mean = mean.as<float>(),
                                 .rstd = rstd.as<float>(),
                                 .y = y.data(),
                                 .rows = 2,
                                 .features = 2,
                                 .inverse_features = 0,
                                 .eps = 0};
  call("batch_norm.forward", arguments);
  EXPECT_EQ(values_of(y), (std::vector<double>{7, 18, 13, 22}));
  arguments.weight = arguments.bias = nullptr;
  call("batch_norm.forward", arguments);
  EXPECT_EQ(values_of(y), (std::vector<double>{-1, -1, 1, 1}));
}

/// Two rows, mean 0 and rstd 1: h = x. dy = (3, 1): s1 = 4, s2 = 3 - 1 = 2, dx = w (dy - s1/2 - h s2/2).
TEST(BatchNormBackward, FollowsTheFormulaOnTwoRows) {
  const DeviceTensor x = on_device({1, -1}), dy = on_device({3, 1}), weight = on_device({2});
  const DeviceTensor mean = on_device({0}), rstd = on_device({1}), dw = room(1), db = room(1), s2 = room(1),
                     s1 = room(1);
  const DeviceTensor dx = room(2);
  call("batch_norm.parameter_gradients",
       NormGradientArguments{Dtype::fp32, x.data(), dy.data(), mean.as<float>(), rstd.as<float>(), dw.data(), db.data(),
                             s2.as<float>(), s1.as<float>(), 2, 1});
  EXPECT_EQ(values_of(dw), std::vector<double>{2});
  EXPECT_EQ(values_of(db), std::vector<double>{4});
  EXPECT_EQ(values_of(s1), values_of(db));
  NormBackwardArguments arguments{Dtype::fp32,
                                  x.data(),
                                  dy.data(),
                                  weight.data(),
                                  mean.as<float>(),
                                  rstd.as<float>(),
                                  s2.as<float>(),
                                  s1.as<float>(),
                                  dx.data(),
                                  2,
                                  1,
                                  0.5f};
  call("batch_norm.backward", arguments);
  EXPECT_EQ(values_of(dx), (std::vector<double>{0, 0}));
  call("batch_norm.backward_frozen", arguments);
  EXPECT_EQ(values_of(dx), (std::vector<double>{6, 2}));
}

TEST(BatchNormParameterGradients, SumExactlyAtEverySizeAroundWarpAndTileEdges) {
  for (const std::int64_t rows : {1, 63, 64, 65, 200}) {
    const std::int64_t features = 33;
    const DeviceTensor x = on_device(std::vector<double>(static_cast<std::size_t>(rows * features), 3.0));
    const DeviceTensor dy = on_device(std::vector<double>(static_cast<std::size_t>(rows * features), 2.0));
    const DeviceTensor mean = on_device(std::vector<double>(33, 1.0)), rstd = on_device(std::vector<double>(33, 0.5));
    const DeviceTensor dw = room(features), db = room(features);
    call("batch_norm.parameter_gradients",
         NormGradientArguments{Dtype::fp32, x.data(), dy.data(), mean.as<float>(), rstd.as<float>(), dw.data(),
                               db.data(), nullptr, nullptr, rows, features});
    EXPECT_EQ(values_of(dw), std::vector<double>(33, 2.0 * static_cast<double>(rows))) << rows;
    EXPECT_EQ(values_of(db), std::vector<double>(33, 2.0 * static_cast<double>(rows))) << rows;
  }
}

}  // namespace
}  // namespace tally::batch_norm_test
