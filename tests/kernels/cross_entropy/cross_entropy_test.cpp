#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/layer_arguments.hpp"
#include "tests/kernels/on_device.hpp"

namespace tally {
namespace {

struct Result {
  std::vector<double> loss, dz;
};

Result evaluate(const std::vector<double>& z, const std::vector<double>& targets, std::int64_t classes,
                double smoothing = 0, const std::vector<double>& weights = {}) {
  const auto rows = static_cast<std::int64_t>(targets.size());
  const DeviceTensor logits = on_device(z), target = on_device(targets, Dtype::i64), weight = on_device(weights);
  const DeviceTensor loss = room(rows), dz = room(rows * classes);
  call("cross_entropy", CrossEntropyArguments{.storage = Dtype::fp32,
                                              .z = logits.data(),
                                              .target = target.as<std::int64_t>(),
                                              .class_weight = weights.empty() ? nullptr : weight.as<float>(),
                                              .loss = loss.as<float>(),
                                              .dz = dz.data(),
                                              .rows = rows,
                                              .classes = classes,
                                              .ignore_index = -100,
                                              .factor = 0.5f,
                                              .keep = static_cast<float>(1 - smoothing),
                                              .spread = static_cast<float>(smoothing / static_cast<double>(classes)),
                                              .smoothed = smoothing != 0});
  return {values_of(loss), values_of(dz)};
}

/// log(C) as the kernel must give it: within 2 ulp.
void expect_log(double got, double classes) {
  const double exact = std::log(classes);
  EXPECT_LE(std::fabs(got - exact), 4 * u * exact) << classes << " classes";  // an ulp is at most 2u of the value
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClassesAndHasExactGradients) {
  for (const std::int64_t classes : {2, 8, 32, 64, 128}) {
    const std::vector<double> z(static_cast<std::size_t>(3 * classes), 7.0);
    const Result got = evaluate(z, {0, static_cast<double>(classes - 1), -100}, classes);
    expect_log(got.loss[0], static_cast<double>(classes));
    expect_log(got.loss[1], static_cast<double>(classes));
    EXPECT_EQ(got.loss[2], 0);
    const double p = 1 / static_cast<double>(classes);
    for (std::size_t c = 0; c < static_cast<std::size_t>(classes); ++c) {
      const auto all = static_cast<std::size_t>(classes);
      EXPECT_EQ(got.dz[c], 0.5 * (p - (c == 0 ? 1 : 0)));
      EXPECT_EQ(got.dz[all + c], 0.5 * (p - (c == all - 1 ? 1 : 0)));
      EXPECT_EQ(got.dz[2 * all + c], 0);
    }
  }
}

TEST(CrossEntropy, SurvivesLogitsThatOverflowAnExponential) {
  const Result got = evaluate({1000, 0, -1000, 1000}, {0, 0}, 2);
  EXPECT_EQ(got.loss, (std::vector<double>{0, 2000}));
  EXPECT_EQ(got.dz, (std::vector<double>{0, 0, -0.5, 0.5}));
}

TEST(CrossEntropy, ShowsANaNInItsOwnRowOnly) {
  const Result got = evaluate({0, std::numeric_limits<double>::quiet_NaN(), 1, 1}, {0, 0}, 2);
  EXPECT_TRUE(std::isnan(got.loss[0]));
  EXPECT_TRUE(std::isnan(got.dz[0]));
  EXPECT_FALSE(std::isnan(got.loss[1]));
  EXPECT_EQ(got.dz[2], -0.25);
}

/// Two equal logits, smoothing 1/2, weights (1, 5), target 0: a = (1/2 + 1/4, 5/4), W = 2, dz = (1 - 3/4, 1 - 5/4) / 2;
/// loss = (1/2 + (1 + 5) / 4) log 2.
TEST(CrossEntropy, SharesTheTargetOutWithSmoothingAndWeights) {
  const Result got = evaluate({5, 5}, {0}, 2, 0.5, {1, 5});
  EXPECT_EQ(got.dz, (std::vector<double>{0.125, -0.125}));
  const double nll = evaluate({5, 5}, {0}, 2).loss[0];
  EXPECT_LE(std::fabs(got.loss[0] - 2 * nll), 4 * u * 2 * nll);  // fl(5 nll), two sums; the rest is exact
}

TEST(CrossEntropy, WeighsLossAndGradientByTheTargetsClass) {
  const Result got = evaluate({5, 5}, {1}, 2, 0, {1, 4});
  EXPECT_EQ(got.dz, (std::vector<double>{1, -1}));
  EXPECT_EQ(got.loss[0], 4 * evaluate({5, 5}, {1}, 2).loss[0]);
}

}  // namespace
}  // namespace tally
