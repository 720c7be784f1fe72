#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/layer_arguments.hpp"
#include "oracle/losses/softmax_bound.hpp"
#include "tests/kernels/on_device.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::cross_entropy_test {
namespace {

struct Result {
  std::vector<double> loss, dz;
};

Result evaluate(const std::string& variant, const std::vector<double>& z, const std::vector<double>& targets,
                std::int64_t classes, double smoothing = 0, const std::vector<double>& weights = {}) {
  const auto rows = static_cast<std::int64_t>(targets.size());
  const DeviceTensor logits = on_device(z), target = on_device(targets, Dtype::i64), weight = on_device(weights);
  const DeviceTensor loss = room(rows), dz = room(rows * classes);
  call("cross_entropy",
       CrossEntropyArguments{.storage = Dtype::fp32,
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
                             .smoothed = smoothing != 0},
       variant);
  return {values_of(loss), values_of(dz)};
}

class CrossEntropy : public OfEveryVariant {};

/// log(C) as the kernel must give it: within 2 ulp.
void expect_log(double got, double classes) {
  const double exact = std::log(classes);
  EXPECT_LE(std::fabs(got - exact), 4 * u * exact) << classes << " classes";  // an ulp is at most 2u of the value
}

TEST_P(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheClassesAndHasExactGradients) {
  for (const std::int64_t classes : {2, 8, 32, 64, 128}) {
    const std::vector<double> z(static_cast<std::size_t>(3 * classes), 7.0);
    const Result got = evaluate(variant(), z, {0, static_cast<double>(classes - 1), -100}, classes);
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

TEST_P(CrossEntropy, SurvivesLogitsThatOverflowAnExponential) {
  const Result got = evaluate(variant(), {1000, 0, -1000, 1000}, {0, 0}, 2);
  EXPECT_EQ(got.loss, (std::vector<double>{0, 2000}));
  EXPECT_EQ(got.dz, (std::vector<double>{0, 0, -0.5, 0.5}));
}

TEST_P(CrossEntropy, ShowsANaNInItsOwnRowOnly) {
  const Result got = evaluate(variant(), {0, std::numeric_limits<double>::quiet_NaN(), 1, 1}, {0, 0}, 2);
  EXPECT_TRUE(std::isnan(got.loss[0]));
  EXPECT_TRUE(std::isnan(got.dz[0]));
  EXPECT_FALSE(std::isnan(got.loss[1]));
  EXPECT_EQ(got.dz[2], -0.25);
}

/// Two equal logits, smoothing 1/2, weights (1, 5), target 0: a = (1/2 + 1/4, 5/4), W = 2, dz = (1 - 3/4, 1 - 5/4) / 2;
/// loss = (1/2 + (1 + 5) / 4) log 2.
TEST_P(CrossEntropy, SharesTheTargetOutWithSmoothingAndWeights) {
  const Result got = evaluate(variant(), {5, 5}, {0}, 2, 0.5, {1, 5});
  EXPECT_EQ(got.dz, (std::vector<double>{0.125, -0.125}));
  const double nll = evaluate(variant(), {5, 5}, {0}, 2).loss[0];
  EXPECT_LE(std::fabs(got.loss[0] - 2 * nll), 4 * u * 2 * nll);  // fl(5 nll), two sums; the rest is exact
}

TEST_P(CrossEntropy, WeighsLossAndGradientByTheTargetsClass) {
  const Result got = evaluate(variant(), {5, 5}, {1}, 2, 0, {1, 4});
  EXPECT_EQ(got.dz, (std::vector<double>{1, -1}));
  EXPECT_EQ(got.loss[0], 4 * evaluate(variant(), {5, 5}, {1}, 2).loss[0]);
}

TEST_P(CrossEntropy, TakesClassesOfNoProbabilityWhereverTheyStand) {
  const double never = -std::numeric_limits<double>::infinity();
  const Result few = evaluate(variant(), {never, never, 3, 3, never}, {2}, 5);
  EXPECT_EQ(few.dz, (std::vector<double>{0, 0, -0.25, 0.25, 0}));
  std::vector<double> z(100, never);
  z[40] = z[99] = -5;
  const Result many = evaluate(variant(), z, {40}, 100);
  EXPECT_EQ(many.loss, few.loss);
  for (std::size_t c = 0; c < z.size(); ++c) EXPECT_EQ(many.dz[c], c == 40 ? -0.25 : c == 99 ? 0.25 : 0) << c;
}

TEST_P(CrossEntropy, ShowsAnInfiniteLogitAllOverItsRow) {
  for (const std::size_t classes : {3, 70}) {
    for (std::size_t at = 0; at < classes; at += 2) {
      std::vector<double> z(classes, 0.5);
      z[at] = std::numeric_limits<double>::infinity();
      const Result got = evaluate(variant(), z, {0}, static_cast<std::int64_t>(classes));
      EXPECT_TRUE(std::isnan(got.loss[0])) << at;
      for (const double dz : got.dz) EXPECT_TRUE(std::isnan(dz)) << at;
    }
  }
}

/// Logits that rise, fall and jump: rescaling at every class, never, and in every lane.
TEST_P(CrossEntropy, StaysWithinTheBoundOfItsForm) {
  const KernelClaim& claim = find_kernel("cross_entropy", ExecutorKind::host, variant()).claim;
  for (const std::int64_t classes : {1, 2, 31, 32, 33, 65, 200}) {
    for (const double slope : {0.0, 0.25, -0.25}) {
      std::vector<double> z = drawn(classes);
      for (std::size_t c = 0; c < z.size(); ++c) z[c] = static_cast<float>(8 * z[c] + slope * static_cast<double>(c));
      const Result got = evaluate(variant(), z, {static_cast<double>(classes - 1)}, classes);
      oracle::BoundedMatrix logits(1, classes);
      for (std::int64_t c = 0; c < classes; ++c) logits.set(0, c, {z[static_cast<std::size_t>(c)], 0});
      const auto form = oracle::softmax_form(claim, static_cast<double>(classes));
      const oracle::SoftmaxRow row = oracle::softmax_row(oracle::single(oracle::undeclared()), form, logits, 0);
      EXPECT_LE(std::fabs(got.loss[0] - row.nll.back().v), row.nll.back().e) << classes << " classes";
      for (std::size_t c = 0; c < z.size(); ++c) {
        const double hit = c + 1 == z.size() ? 1 : 0, q = row.p[c].v - hit;
        const double e = row.p[c].e + u * (std::fabs(q) + row.p[c].e);  // fl(p - hit); half of it is exact
        EXPECT_LE(std::fabs(2 * got.dz[c] - q), e) << "class " << c << " of " << classes;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, CrossEntropy, testing::ValuesIn(every_variant("cross_entropy")), variant_name);

}  // namespace
}  // namespace tally::cross_entropy_test
