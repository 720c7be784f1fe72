#include "oracle/window/bound_stages.hpp"

#include "oracle/tolerance/elementwise.hpp"
#include "tests/oracle/tolerance/emulation.hpp"
#include "tests/oracle/undeclared.hpp"

namespace tally::oracle::bound_stages_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

const Precision fp32{};

Choice global_norm(const char* kind, const char* most) {
  return {"global_norm", {{"max_norm", Decimal{most}}, {"norm", std::string(kind)}, {"epsilon", Decimal{"1e-6"}}}};
}

float two_norm(Subject& s, const Matrix<float>& a, const Matrix<float>& b) {
  std::vector<float> sums;
  for (const auto* g : {&a, &b}) {
    std::vector<float> squares;
    for (Eigen::Index i = 0; i < g->size(); ++i) squares.push_back(g->data()[i] * g->data()[i]);
    sums.push_back(s.sum(squares));
  }
  return std::sqrt(s.sum(sums));
}

TEST(BoundNorm, HoldsTheTwoNormInAnyOrder) {
  Worst worst, coefficients;
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  const Choice clip = global_norm("2", "0.7");
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Subject s(Dtype::fp32, seed);
    const Matrix<float> a = s.values(3, 1 + seed % 20, 0.1), b = s.values(1, 5, 0.1);
    const float got = two_norm(s, a, b);
    worst.hold(norm(subject, clip, {{"a", exactly(a)}, {"b", exactly(b)}}), Matrix<float>::Constant(1, 1, got));
    const float ratio = 0.7f / (got + 1e-6f), coefficient_got = ratio > 1 ? 1.0f : ratio;
    const Expected tapped = exactly(Matrix<float>::Constant(1, 1, got));
    coefficients.hold(coefficient(subject, clip, tapped, 0), Matrix<float>::Constant(1, 1, coefficient_got));
  }
  worst.expect_sound("two-norm");
  coefficients.expect_sound("clip coefficient");
}

TEST(BoundNorm, IsExactForTheLargestMagnitudeAndTightForTheSum) {
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  Matrix<float> g(1, 4);
  g << 1, -3, 2, 0;
  const ExpectedTensors gradients{{"g", exactly(g)}};
  EXPECT_EQ(norm(subject, global_norm("inf", "1"), gradients).e(0, 0), 0);
  EXPECT_EQ(static_cast<double>(norm(subject, global_norm("inf", "1"), gradients).v(0, 0)), 3);
  EXPECT_GT(norm(subject, global_norm("1", "1"), gradients).e(0, 0), 0);
  EXPECT_LT(norm(subject, global_norm("1", "1"), gradients).e(0, 0), 6 * 4 * 0x1p-24);
}

TEST(BoundNorm, IsNonFiniteForANonFiniteGradient) {
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  Matrix<float> g = Matrix<float>::Constant(1, 2, INFINITY);
  const Expected n = norm(subject, global_norm("2", "1"), {{"g", exactly(g)}});
  EXPECT_FALSE(std::isfinite(n.v(0, 0)));
  EXPECT_EQ(n.e(0, 0), 0);
}

TEST(ClipCoefficient, IsExactlyOneWellInsideTheLimit) {
  const Expected c = coefficient(undeclared(), global_norm("2", "1"), scalar(0.5L, 0.1), 0);
  EXPECT_EQ(static_cast<double>(c.v(0, 0)), 1);
  EXPECT_EQ(c.e(0, 0), 0);
}

TEST(ClipCoefficient, StaysInItsRangeWhereTheNormMayBeZero) {
  const Expected c = coefficient(undeclared(), global_norm("2", "1e-3"), scalar(0.001L, 0.01), 0);
  EXPECT_LE(c.e(0, 0), 1);
}

TEST(Constants, AreHeldToTheNearestFloat) {
  EXPECT_EQ(constant(Decimal{"0.5"}).e, 0);
  const Bounded tenth = constant(Decimal{"0.1"});
  const double distance = std::fabs(static_cast<double>(0.1f) - 0.1);
  EXPECT_LE(distance, tenth.e);
  EXPECT_LT(tenth.e, distance * 1.001);
}

TEST(Constants, TellTheTwoWaysToDeriveOneMinusBetaApart) {
  Claims binary64, in_fp32;
  in_fp32.constants = "fp32";
  const double wrong = std::fabs(static_cast<double>(1.0f - 0.999f) - 0.001);
  EXPECT_GT(wrong, one_minus(declared(fp32, binary64), Decimal{"0.999"}).e);
  EXPECT_LE(wrong, one_minus(declared(fp32, in_fp32), Decimal{"0.999"}).e);
}

TEST(RoundedStages, PredictBitsOfCastAccumulateAndProduct) {
  Subject s(Dtype::fp16, 9);
  const Matrix<float> a = Subject(Dtype::fp32, 3).values(4, 8), b = s.values(4, 8);
  const Matrix<float> cast_bits = rounded_cast(format_of(Dtype::fp16), a);
  const Matrix<float> sums = rounded_accumulate(format_of(Dtype::fp32), a, b);
  const Matrix<float> products = rounded_product(a, 0.3f);
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    EXPECT_EQ(cast_bits.data()[i], s.store(a.data()[i]));
    EXPECT_EQ(sums.data()[i], a.data()[i] + b.data()[i]);
    EXPECT_EQ(products.data()[i], a.data()[i] * 0.3f);
  }
}

TEST(BoundStages, TakeTheNormOfWhatWasOnlyReadSomeRowsAtATime) {
  const Claims nothing;
  const Declared subject = declared(fp32, nothing);
  Tensor wide(Dtype::fp32, {300, 70}), narrow(Dtype::fp32, {5});
  for (Tensor* each : {&wide, &narrow})
    for (std::size_t i = 0; i < each->elements(); ++i) each->set(i, std::sin(static_cast<double>(i) + 1));
  for (const char* order : {"1", "2", "inf"}) {
    const Choice clip = global_norm(order, "1");
    const Expected whole = norm(subject, clip, {{"a", as_read(wide)}, {"b", as_read(narrow)}}),
                   read = norm(subject, clip, {{"a", only_read(wide)}, {"b", only_read(narrow)}});
    EXPECT_EQ(whole.v, read.v);
    EXPECT_EQ(whole.e, read.e);
    EXPECT_GT(read.v(0, 0), 0);
  }
}

TEST(BoundStages, CarryRunningStatisticsDecayAndScale) {
  Worst mean, var, l2, decoupled;
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  Layer layer;
  layer.kind = "batch_norm";
  layer.options = {{"momentum", Decimal{"0.1"}}};
  const Choice lambda{"l2", {{"lambda", Decimal{"0.01"}}}}, apart{"decoupled", {{"lambda", Decimal{"0.01"}}}};
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Subject s(Dtype::fp32, seed);
    const Matrix<float> r = s.values(1, 20), batch = s.values(1, 20).cwiseAbs(), g = s.values(1, 20);
    Matrix<float> moved_mean = r, moved_var = r, grown = r, shrunk = r;
    for (Eigen::Index i = 0; i < r.size(); ++i) {
      const float old = r.data()[i], now = batch.data()[i], keep = static_cast<float>(1 - 0.1);
      moved_mean.data()[i] = keep * old + 0.1f * now;
      moved_var.data()[i] = keep * old + 0.1f * (now * static_cast<float>(7.0 / 6.0));
      grown.data()[i] = g.data()[i] + 0.01f * old;
      shrunk.data()[i] = old * static_cast<float>(1 - 0.3 * 0.01);
    }
    mean.hold(running_mean(subject, layer, exactly(r), exactly(batch)), moved_mean);
    var.hold(running_var(subject, layer, exactly(r), exactly(batch), 7), moved_var);
    const StepRate rate = number<long double>(Decimal{"0.3"});
    l2.hold(decayed(subject, lambda, rate, exactly(g), exactly(r)), grown);
    decoupled.hold(decayed(subject, apart, rate, exactly(g), exactly(r)), shrunk);
  }
  mean.expect_sound("running mean");
  var.expect_sound("running variance");
  l2.expect_sound("l2 decay");
  decoupled.expect_sound("decoupled decay");
}

TEST(BoundStages, HoldTheRateOfEverySchedule) {
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  const Choice cosine{
      "warmup_cosine",
      {{"base", Decimal{"0.1"}}, {"warmup", std::int64_t{3}}, {"total", std::int64_t{20}}, {"floor", Decimal{"0"}}}};
  for (std::int64_t t = 0; t < 22; ++t) {
    const double done = static_cast<double>(t - 3) / 17.0;
    const double exact = t < 3     ? 0.1 * static_cast<double>(t + 1) / 3.0
                         : t >= 20 ? 0
                                   : 0.1 * (1 + std::cos(M_PI * done)) / 2;
    const Expected held = rate(subject, cosine, t);
    EXPECT_LE(std::fabs(static_cast<float>(exact) - held.v(0, 0)), held.e(0, 0)) << t;
    EXPECT_LE(held.e(0, 0), 0.1 * 0x1p-24) << t;
  }
}

/// A linear rise multiplies first: from which step on the product may overflow in fp32, or in binary64.
TEST(BoundStages, LeaveARateOpenWhoseProductMayOverflow) {
  const auto rate_of = [](const char* base, std::int64_t t) {
    const Choice cosine{"warmup_cosine",
                        {{"base", Decimal{base}},
                         {"warmup", std::int64_t{1} << 30},
                         {"total", std::int64_t{1} << 31},
                         {"floor", Decimal{"0"}}}};
    return step_rate(cosine, t);
  };
  const char* const power = "85070591730234615865843651857942052864";  // 2^126
  EXPECT_LT(rate_of(power, 0).in_fp32, infinite);
  EXPECT_EQ(rate_of(power, 1).in_fp32, infinite);
  EXPECT_LT(rate_of("1e300", 89884655).margin, infinite);  // 2^1023 is 89884656.7 times 1e300
  EXPECT_EQ(rate_of("1e300", 89884656).margin, infinite);
}

TEST(BoundStages, KeepAPowerOfTwoScaleExact) {
  const Choice dynamic{"dynamic",
                       {{"initial", Decimal{"65536"}},
                        {"growth_factor", Decimal{"2"}},
                        {"backoff_factor", Decimal{"0.5"}},
                        {"growth_interval", std::int64_t{2}},
                        {"growth_counter", std::int64_t{1}}}};
  const ExpectedScale first = first_scale(dynamic), grown = scale_after(undeclared(), dynamic, first, false);
  const ExpectedScale backed_off = scale_after(undeclared(), dynamic, grown, true);
  EXPECT_EQ(static_cast<double>(grown.scale.v(0, 0)), 131072);
  EXPECT_EQ(static_cast<double>(backed_off.scale.v(0, 0)), 65536);
  EXPECT_EQ(backed_off.scale.e(0, 0), 0);
  EXPECT_EQ(backed_off.growth_counter, 0);
}

}  // namespace
}  // namespace tally::oracle::bound_stages_test
