#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::lion_test {
namespace {

TEST(LionKernel, MovesByTheSignOfTheInterpolation) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DeviceTensor gradient = on_device({-2, -8, -4, nan}), parameter = on_device({10, 10, 10, 10}),
                     momentum = on_device({4, 4, 4, 4});
  call("lion", LionArguments{.gradient = gradient.as<float>(),
                             .parameter = parameter.as<float>(),
                             .exp_avg = momentum.as<float>(),
                             .elements = 4,
                             .rate = 2,
                             .beta1 = 0.5f,
                             .one_minus_beta1 = 0.5f,
                             .beta2 = 0.75f,
                             .one_minus_beta2 = 0.25f});
  const auto moved = values_of(parameter);
  EXPECT_EQ((std::vector<double>(moved.begin(), moved.end() - 1)), (std::vector<double>{8, 12, 10}));
  EXPECT_TRUE(std::isnan(moved.back()));
  EXPECT_EQ(values_of(momentum)[0], 2.5);
}

}  // namespace
}  // namespace tally::lion_test
