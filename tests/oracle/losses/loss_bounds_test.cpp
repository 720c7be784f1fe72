// cross_entropy and mse against the kernels' formulas in floats.
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::loss_bounds_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

struct LossRow {
  float loss;
  std::vector<float> dz;
};

struct Smoothing {
  std::vector<float> weight;
  float keep = 1, spread = 0;
  bool smoothed = false;
  float z_loss = 0;
  float share(std::size_t c, std::size_t t) const {
    const float even = smoothed ? spread * weight[c] : 0.0f;
    return c == t ? keep * weight[c] + even : even;
  }
};

LossRow cross_entropy_row(Subject& s, const Matrix<float>& z, std::size_t t, const Smoothing& how, float factor) {
  const auto classes = static_cast<std::size_t>(z.size());
  const float most = z.maxCoeff();
  std::vector<float> exps, nll, shares;
  for (std::size_t c = 0; c < classes; ++c)
    exps.push_back(s.function(std::exp(static_cast<double>(z.data()[c] - most))));
  const float sum = s.sum(exps), log_sum = s.function(std::log(static_cast<double>(sum)));
  std::vector<float> weighted;
  for (std::size_t c = 0; c < classes; ++c) {
    nll.push_back(log_sum - (z.data()[c] - most));
    shares.push_back(how.share(c, t));
    weighted.push_back(how.weight[c] * nll[c]);
  }
  const float total = s.sum(shares);
  LossRow row{(how.keep * how.weight[t]) * nll[t], {}};
  if (how.smoothed) row.loss += how.spread * s.sum(weighted);
  const float lse = most + log_sum, pull = ((2 * how.z_loss) * how.weight[t]) * lse;
  if (how.z_loss != 0) row.loss += (how.z_loss * how.weight[t]) * (lse * lse);
  for (std::size_t c = 0; c < classes; ++c) {
    const float p = exps[c] / sum;
    float q = total * p - shares[c];
    if (how.z_loss != 0) q += pull * p;
    row.dz.push_back(s.store(factor * q));
  }
  return row;
}

Choice cross_entropy(const char* smoothing, bool weighted, Eigen::Index classes, const char* z_loss = "0") {
  Choice loss;
  loss.kind = "cross_entropy";
  loss.options = {
      {"ignore_index", std::int64_t{-100}}, {"label_smoothing", Decimal{smoothing}}, {"z_loss", Decimal{z_loss}}};
  std::vector<Decimal> weights;
  for (Eigen::Index c = 0; c < classes; ++c) weights.push_back({"0." + std::to_string(3 + c % 7)});
  loss.options["weight"] = weighted ? weights : std::vector<Decimal>{};
  return loss;
}

class LossBound : public testing::TestWithParam<Dtype> {};

/// Each alone, all at once, and with the square of the log of the sum.
void expect_bound(Dtype storage, const char* z_loss) {
  for (const bool smoothed : {false, true}) {
    for (const bool weighted : {false, true}) {
      Worst losses, gradients;
      std::uint64_t caught = 0;
      for (unsigned seed = 1; seed <= 100; ++seed) {
        Subject s(storage, seed);
        const Claims claims;
        const Declared subject = declared(s.precision(), claims);
        const Eigen::Index classes = 2 + seed % 12;
        const Choice loss = cross_entropy(smoothed ? "0.1" : "0", weighted, classes, z_loss);
        const Matrix<float> z = s.values(1, classes, seed % 2 == 0 ? 2 : 12);
        const std::size_t t = seed % static_cast<std::size_t>(classes);
        Smoothing how{std::vector<float>(static_cast<std::size_t>(classes), 1.0f)};
        for (std::size_t c = 0; weighted && c < how.weight.size(); ++c) {
          how.weight[c] = static_cast<float>(loss.numbers("weight")[c].to_double());
        }
        how.smoothed = smoothed;
        how.z_loss = static_cast<float>(Decimal{z_loss}.to_double());
        if (smoothed)
          how.keep = static_cast<float>(1 - 0.1), how.spread = static_cast<float>(0.1 / static_cast<double>(classes));
        const float factor = 0.37f;
        Matrix<long double> target(1, 1), one = Matrix<long double>::Ones(1, 1);
        target(0, 0) = static_cast<long double>(t);
        const auto expected =
            loss_bound_rule("cross_entropy")
                .evaluate(loss, subject, exactly(z), target, one, exactly(Matrix<float>::Constant(1, 1, factor)));
        const LossRow row = cross_entropy_row(s, z, t, how, factor);
        losses.hold(expected.loss, Matrix<float>::Constant(1, 1, row.loss));
        gradients.hold(expected.dy, Eigen::Map<const Matrix<float>>(row.dz.data(), 1, classes));
        Worst wrong;
        const LossRow off = cross_entropy_row(s, z, (t + 1) % static_cast<std::size_t>(classes), how, factor);
        wrong.hold(expected.dy, Eigen::Map<const Matrix<float>>(off.dz.data(), 1, classes));
        caught += wrong.over > 0 ? 1 : 0;
      }
      const std::string name = std::string("cross_entropy") + (smoothed ? " smoothed" : "") +
                               (weighted ? " weighted" : "") + ", z-loss " + z_loss + " " +
                               std::string(name_of(storage));
      losses.expect_sound(name + " loss");
      gradients.expect_sound(name + " dz");
      EXPECT_EQ(caught, 100u) << "the wrong target must leave the bound";
    }
  }
}

TEST_P(LossBound, HoldsCrossEntropyPlainSmoothedAndWeighted) { expect_bound(GetParam(), "0"); }

/// A small part of the loss, and most of it.
TEST_P(LossBound, HoldsCrossEntropyWithASquareOnTop) {
  for (const char* z_loss : {"0.0001", "0.3", "30"}) expect_bound(GetParam(), z_loss);
}

TEST_P(LossBound, HoldsMeanSquaredError) {
  Worst losses, gradients;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Subject s(GetParam(), seed);
    const Claims claims;
    const Declared subject = declared(s.precision(), claims);
    Choice loss;
    loss.kind = "mse";
    loss.options = {{"item_weights", true}};
    const Eigen::Index features = 1 + seed % 20;
    const Matrix<float> y = s.values(1, features), t = s.values(1, features);
    const auto weight = static_cast<float>(seed % 4);
    const float c = 0.2f, share = static_cast<float>(1.0 / static_cast<double>(features)),
                slope = static_cast<float>(2.0 / static_cast<double>(features));
    std::vector<float> squares;
    Matrix<float> dy = y;
    for (Eigen::Index j = 0; j < features; ++j) {
      const float d = y(0, j) - t(0, j);
      squares.push_back(d * d);
      dy(0, j) = s.store((c * weight) * (d * slope));
    }
    const Matrix<long double> weights = Matrix<long double>::Constant(1, 1, weight);
    const auto expected = loss_bound_rule("mse").evaluate(loss, subject, exactly(y), t.cast<long double>(), weights,
                                                          exactly(Matrix<float>::Constant(1, 1, c)));
    losses.hold(expected.loss, Matrix<float>::Constant(1, 1, (s.sum(squares) * share) * weight));
    gradients.hold(expected.dy, dy);
  }
  losses.expect_sound("mse loss " + std::string(name_of(GetParam())));
  gradients.expect_sound("mse dy " + std::string(name_of(GetParam())));
}

TEST(CrossEntropyBound, DemandsExactZerosInAnIgnoredRow) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  Matrix<float> z(1, 3);
  z << 1, INFINITY, 2;
  const Matrix<long double> target = Matrix<long double>::Constant(1, 1, -100), zero = Matrix<long double>::Zero(1, 1);
  const auto expected = loss_bound_rule("cross_entropy")
                            .evaluate(cross_entropy("0", false, 3), subject, exactly(z), target, zero,
                                      exactly(Matrix<float>::Constant(1, 1, 1.0f)));
  EXPECT_EQ(expected.dy.e, (Matrix<double>::Zero(1, 3)));
  EXPECT_EQ(expected.dy.v.cast<double>(), (Matrix<double>::Zero(1, 3)));
}

TEST(CrossEntropyBound, DemandsNonFiniteGradientsOfAnInfiniteLogit) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  Matrix<float> z(1, 3);
  z << 1, INFINITY, 2;
  const Matrix<long double> target = Matrix<long double>::Zero(1, 1), one = Matrix<long double>::Ones(1, 1);
  const auto expected = loss_bound_rule("cross_entropy")
                            .evaluate(cross_entropy("0", false, 3), subject, exactly(z), target, one,
                                      exactly(Matrix<float>::Constant(1, 1, 1.0f)));
  EXPECT_TRUE(std::isnan(expected.dy.v(0, 0)));
  EXPECT_EQ(expected.dy.e, (Matrix<double>::Zero(1, 3)));
}

INSTANTIATE_TEST_SUITE_P(Formats, LossBound, testing::ValuesIn(emulation::storages),
                         [](const auto& drawn) { return std::string(name_of(drawn.param)); });

}  // namespace
}  // namespace tally::oracle::loss_bounds_test
