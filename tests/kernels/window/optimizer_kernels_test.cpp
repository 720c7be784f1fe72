#include <gtest/gtest.h>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::optimizer_kernels_test {
namespace {

struct Sgd {
  DeviceTensor gradient = on_device({4}), parameter = on_device({10}), momentum = on_device({2});
  SgdArguments arguments{.gradient = gradient.as<float>(),
                         .parameter = parameter.as<float>(),
                         .momentum = nullptr,
                         .elements = 1,
                         .rate = 0.5f,
                         .mu = 0.25f,
                         .one_minus_dampening = 0.5f,
                         .nesterov = false,
                         .first = false};
  std::vector<double> step() {
    call("sgd", arguments);
    return {values_of(parameter)[0], values_of(momentum)[0]};
  }
};

TEST(Sgd, WithoutMomentumSubtractsRateTimesGradient) { EXPECT_EQ(Sgd().step(), (std::vector<double>{8, 2})); }

TEST(Sgd, MovesTheBufferByMomentumAndDampening) {
  Sgd sgd;
  sgd.arguments.momentum = sgd.momentum.as<float>();
  EXPECT_EQ(sgd.step(), (std::vector<double>{8.75, 2.5}));  // b = 2/4 + 4/2, p = 10 - b/2
}

TEST(Sgd, StartsTheBufferAsTheGradientItself) {
  Sgd sgd;
  sgd.arguments.momentum = sgd.momentum.as<float>();
  sgd.arguments.first = true;
  EXPECT_EQ(sgd.step(), (std::vector<double>{8, 4}));
}

TEST(Sgd, LooksAheadWithNesterov) {
  Sgd sgd;
  sgd.arguments.momentum = sgd.momentum.as<float>();
  sgd.arguments.nesterov = true;
  sgd.arguments.one_minus_dampening = 1;
  EXPECT_EQ(sgd.step(), (std::vector<double>{7.4375, 4.5}));  // b = 4.5, d = 4 + b/4
}

TEST(Adam, FollowsBothMomentsAndTheirCorrections) {
  const DeviceTensor gradient = on_device({4}), parameter = on_device({10}), m = on_device({2}), v = on_device({16});
  call("adam", AdamArguments{.gradient = gradient.as<float>(),
                             .parameter = parameter.as<float>(),
                             .exp_avg = m.as<float>(),
                             .exp_avg_sq = v.as<float>(),
                             .elements = 1,
                             .beta1 = 0.5f,
                             .one_minus_beta1 = 0.5f,
                             .beta2 = 0.75f,
                             .one_minus_beta2 = 0.25f,
                             .corrected_rate = 2,
                             .root_correction = 0.5f,
                             .eps = 0});
  EXPECT_EQ(values_of(m)[0], 3);
  EXPECT_EQ(values_of(v)[0], 16);
  EXPECT_EQ(values_of(parameter)[0], 9.25);  // 10 - 2 * 3 / (4 / 0.5)
}

struct Scaler {
  DeviceTensor scale = on_device({1024}), counter = on_device({0}, Dtype::i64),
               found = on_device({0, 0, 0, 0}, Dtype::u8);
  void window(bool overflow) {
    found.set_scalar<std::uint32_t>(overflow ? 1 : 0);
    call("scaler",
         ScalerArguments{scale.as<float>(), counter.as<std::int64_t>(), found.as<std::uint32_t>(), 2.0f, 0.5f, 2});
  }
  std::vector<double> state() const { return {values_of(scale)[0], values_of(counter)[0]}; }
};

TEST(Scaler, GrowsAfterCleanWindowsAndBacksOffAtOnce) {
  Scaler scaler;
  scaler.window(false);
  EXPECT_EQ(scaler.state(), (std::vector<double>{1024, 1}));
  scaler.window(false);
  EXPECT_EQ(scaler.state(), (std::vector<double>{2048, 0}));
  scaler.window(false);
  scaler.window(true);
  EXPECT_EQ(scaler.state(), (std::vector<double>{1024, 0}));
}

}  // namespace
}  // namespace tally::optimizer_kernels_test
