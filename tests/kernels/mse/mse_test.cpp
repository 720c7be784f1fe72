#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::mse_test {
namespace {

/// y = t + 2 everywhere: loss 4, dy = c * 2 * 2 / F; exact for F a power of two.
TEST(Mse, IsExactOnDyadicDataAtEverySizeAroundWarpEdges) {
  for (const std::int64_t features : {1, 2, 16, 32, 64, 128}) {
    for (const std::int64_t rows : {0, 1, 3, 127, 130}) {
      const auto n = static_cast<std::size_t>(rows * features);
      const DeviceTensor y = on_device(std::vector<double>(n, 5.0)), target = on_device(std::vector<double>(n, 3.0));
      const DeviceTensor loss = room(rows), dy = room(rows * features);
      const double count = static_cast<double>(features);
      call("mse", MseArguments{Dtype::fp32, y.data(), target.data(), nullptr, loss.as<float>(), dy.data(), rows,
                               features, 0.5f, static_cast<float>(1 / count), static_cast<float>(2 / count)});
      EXPECT_EQ(values_of(loss), std::vector<double>(static_cast<std::size_t>(rows), 4.0)) << features;
      EXPECT_EQ(values_of(dy), std::vector<double>(n, 2 / count)) << features;
    }
  }
}

TEST(Mse, WeighsLossAndGradientOfARow) {
  const DeviceTensor y = on_device({1, 2, 3, 4}), target = on_device({0, 0, 0, 0}),
                     weight = on_device({3, 0}, Dtype::i64);
  const DeviceTensor loss = room(2), dy = room(4);
  call("mse", MseArguments{Dtype::fp32, y.data(), target.data(), weight.as<std::int64_t>(), loss.as<float>(), dy.data(),
                           2, 2, 0.25f, 0.5f, 1.0f});
  EXPECT_EQ(values_of(loss), (std::vector<double>{7.5, 0}));
  EXPECT_EQ(values_of(dy), (std::vector<double>{0.75, 1.5, 0, 0}));
}

}  // namespace
}  // namespace tally::mse_test
