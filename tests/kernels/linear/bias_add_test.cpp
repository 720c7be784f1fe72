#include <gtest/gtest.h>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::bias_add_test {
namespace {

TEST(BiasAdd, AddsTheColumnsBiasToEveryRow) {
  const DeviceTensor z = on_device({1, 2, 3, 4, 5, 6}), bias = on_device({10, 20, 30});
  call("linear.bias_add", BiasAddArguments{Dtype::fp32, z.data(), bias.data(), 2, 3});
  EXPECT_EQ(values_of(z), (std::vector<double>{11, 22, 33, 14, 25, 36}));
}

TEST(BiasAdd, RoundsHalfPrecisionToNearestEven) {
  const DeviceTensor z = on_device({2048, 2048}, Dtype::fp16), bias = on_device({1, 3}, Dtype::fp16);
  call("linear.bias_add", BiasAddArguments{Dtype::fp16, z.data(), bias.data(), 1, 2});
  EXPECT_EQ(values_of(z), (std::vector<double>{2048, 2052}));
}

TEST(BiasAdd, ReachesEveryElementOfManyBlocks) {
  const std::int64_t rows = 701, features = 3;
  const DeviceTensor z = on_device(std::vector<double>(rows * features, 1.0)), bias = on_device({1, 2, 3});
  call("linear.bias_add", BiasAddArguments{Dtype::fp32, z.data(), bias.data(), rows, features});
  const auto sums = values_of(z);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], static_cast<double>(2 + i % 3)) << i;
}

}  // namespace
}  // namespace tally::bias_add_test
