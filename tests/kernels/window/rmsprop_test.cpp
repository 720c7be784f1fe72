#include <gtest/gtest.h>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::rmsprop_test {
namespace {

TEST(RmspropKernel, DividesByTheRootOfTheNewSecondMoment) {
  const DeviceTensor gradient = on_device({4}), parameter = on_device({10}), square = on_device({16}),
                     buffer = on_device({2});
  RmspropArguments arguments{.gradient = gradient.as<float>(),
                             .parameter = parameter.as<float>(),
                             .square_avg = square.as<float>(),
                             .momentum_buffer = nullptr,
                             .elements = 1,
                             .rate = 2,
                             .alpha = 0.75f,
                             .one_minus_alpha = 0.25f,
                             .eps = 4,
                             .mu = 0.5f};
  call("rmsprop", arguments);
  EXPECT_EQ(values_of(square)[0], 16);
  EXPECT_EQ(values_of(parameter)[0], 9);  // 10 - 2 * 4 / (4 + 4)
  arguments.momentum_buffer = buffer.as<float>();
  call("rmsprop", arguments);
  EXPECT_EQ(values_of(buffer)[0], 1.5);  // 2 / 2 + 4 / 8
  EXPECT_EQ(values_of(parameter)[0], 6);
}

}  // namespace
}  // namespace tally::rmsprop_test
