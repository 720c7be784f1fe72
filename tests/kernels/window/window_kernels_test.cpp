#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/window/arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally::window_kernels_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Cast, RoundsOnceToNearestEvenInEveryStorageFormat) {
  const DeviceTensor master = on_device({1, 2049, 2051, 65520, -1e-9});
  const DeviceTensor copy = room(5, Dtype::fp16), wide = room(5, Dtype::bf16);
  call("cast", CastArguments{Dtype::fp16, master.as<float>(), copy.data(), 5});
  EXPECT_EQ(values_of(copy), (std::vector<double>{1, 2048, 2052, infinity, -0.0}));
  call("cast", CastArguments{Dtype::bf16, master.as<float>(), wide.data(), 5});
  EXPECT_EQ(values_of(wide)[1], 2048);
}

TEST(Accumulate, AddsAHalfPrecisionGradientWithoutLosingIt) {
  const DeviceTensor gradient = on_device({1, 0x1p-24}, Dtype::fp16), buffer = on_device({2048, 1});
  call("accumulate", AccumulateArguments{Dtype::fp16, gradient.data(), buffer.as<float>(), 2});
  EXPECT_EQ(values_of(buffer), (std::vector<double>{2049, 1}));  // 1 + 2^-24 is a tie: to even
}

TEST(Accumulate, ReachesEveryElementAtWarpAndBlockEdges) {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 255, 256, 257, 1000}) {
    const DeviceTensor gradient = on_device(std::vector<double>(static_cast<std::size_t>(n), 2.0));
    const DeviceTensor buffer = on_device(std::vector<double>(static_cast<std::size_t>(n), 0.5));
    call("accumulate", AccumulateArguments{Dtype::fp32, gradient.data(), buffer.as<float>(), n});
    EXPECT_EQ(values_of(buffer), std::vector<double>(static_cast<std::size_t>(n), 2.5)) << n;
  }
}

TEST(RunningStats, MoveTowardsTheBatchByTheMomentum) {
  const DeviceTensor running = on_device({4, 8}), batch = on_device({8, 2});
  call("running_stats", RunningStatsArguments{running.as<float>(), batch.as<float>(), 2, 0.25f, 0.75f, 2.0f});
  EXPECT_EQ(values_of(running), (std::vector<double>{7, 7}));
}

TEST(OverflowCheck, FindsOneNonFiniteElementWhereverItStands) {
  for (const double bad : {infinity, -infinity, nan}) {
    for (std::size_t at = 0; at < 600; at += 37) {
      std::vector<double> values(600, 3e38);
      DeviceTensor found = on_device({0, 0, 0, 0}, Dtype::u8);
      const DeviceTensor clean = on_device(values);
      call("overflow_check", OverflowCheckArguments{Dtype::fp32, clean.data(), found.as<std::uint32_t>(), 600});
      EXPECT_EQ(found.scalar<std::uint32_t>(), 0u);
      values[at] = bad;
      const DeviceTensor dirty = on_device(values);
      call("overflow_check", OverflowCheckArguments{Dtype::fp32, dirty.data(), found.as<std::uint32_t>(), 600});
      EXPECT_EQ(found.scalar<std::uint32_t>(), 1u) << bad << " at " << at;
    }
  }
}

TEST(Unscale, MultipliesByTheInverseScale) {
  const DeviceTensor in = on_device({1024, 3}, Dtype::fp16), inverse = on_device({0.25}), out = room(2);
  call("unscale", UnscaleArguments{Dtype::fp16, in.data(), out.as<float>(), inverse.as<float>(), 2});
  EXPECT_EQ(values_of(out), (std::vector<double>{256, 0.75}));
}

double coefficient(double norm, float max_norm, float epsilon) {
  const DeviceTensor from = on_device({norm}), to = room(1);
  call("clip_coefficient", ClipCoefficientArguments{from.as<float>(), to.as<float>(), max_norm, epsilon});
  return values_of(to)[0];
}

TEST(ClipCoefficient, IsOneUpToTheLimitAndTheRatioBeyond) {
  EXPECT_EQ(coefficient(2, 4, 0), 1);
  EXPECT_EQ(coefficient(4, 4, 0), 1);
  EXPECT_EQ(coefficient(15, 4, 1), 0.25);
  EXPECT_EQ(coefficient(0, 4, 0), 1);
  EXPECT_EQ(coefficient(infinity, 4, 0), 0);
  EXPECT_TRUE(std::isnan(coefficient(nan, 4, 0)));
}

TEST(Clip, ScalesByTheCoefficientOrClampsByValueAndKeepsNaN) {
  const DeviceTensor gradient = on_device({8, -2, 0.5, nan}), by = on_device({0.5});
  call("clip_by_norm", ClipByNormArguments{gradient.as<float>(), by.as<float>(), 4});
  call("clip_by_value", ClipByValueArguments{gradient.as<float>(), 4, 0.75f});
  const auto got = values_of(gradient);
  EXPECT_EQ((std::vector<double>(got.begin(), got.end() - 1)), (std::vector<double>{0.75, -0.75, 0.25}));
  EXPECT_TRUE(std::isnan(got[3]));
}

TEST(Decay, AddsToTheGradientOrShrinksTheParameter) {
  const DeviceTensor gradient = on_device({1}), parameter = on_device({8});
  const DecayArguments arguments{gradient.as<float>(), parameter.as<float>(), 1, 0.25f, 0.5f};
  call("decay.l2", arguments);
  EXPECT_EQ(values_of(gradient)[0], 3);
  EXPECT_EQ(values_of(parameter)[0], 8);
  call("decay.decoupled", arguments);
  EXPECT_EQ(values_of(gradient)[0], 3);
  EXPECT_EQ(values_of(parameter)[0], 4);
}

}  // namespace
}  // namespace tally::window_kernels_test
