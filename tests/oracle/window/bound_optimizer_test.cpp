#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::bound_optimizer_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

const Precision fp32{};

Choice sgd(const char* momentum, const char* dampening, bool nesterov) {
  return {"sgd", {{"momentum", Decimal{momentum}}, {"dampening", Decimal{dampening}}, {"nesterov", nesterov}}};
}
Choice adam() { return {"adam", {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.999"}}, {"eps", Decimal{"1e-8"}}}}; }
Expected exact_rate(float rate) { return exactly(Matrix<float>::Constant(1, 1, rate)); }

TEST(BoundOptimizer, HoldsSgdWithMomentumDampeningAndNesterov) {
  for (const bool nesterov : {false, true}) {
    Worst buffers, parameters;
    const Choice optimizer = sgd("0.9", nesterov ? "0" : "0.3", nesterov);
    const Claims claims;
    const Declared subject = declared(fp32, claims);
    for (unsigned seed = 1; seed <= 50; ++seed) {
      Subject s(Dtype::fp32, seed);
      const Matrix<float> g = s.values(4, 25), b = s.values(4, 25), p = s.values(4, 25);
      Matrix<float> moved = g, next = p;
      const float mu = 0.9f, kept = nesterov ? 1.0f : static_cast<float>(1 - 0.3), lr = 0.1f;
      for (Eigen::Index i = 0; i < g.size(); ++i) {
        moved.data()[i] = mu * b.data()[i] + kept * g.data()[i];
        const float d = nesterov ? g.data()[i] + mu * moved.data()[i] : moved.data()[i];
        next.data()[i] = p.data()[i] - lr * d;
      }
      buffers.hold(sgd_momentum(subject, optimizer, exactly(g), exactly(b)), moved);
      parameters.hold(sgd_parameter(subject, optimizer, exact_rate(lr), exactly(g), exactly(moved), exactly(p)), next);
    }
    buffers.expect_sound(nesterov ? "nesterov momentum" : "sgd momentum");
    parameters.expect_sound(nesterov ? "nesterov parameter" : "sgd parameter");
  }
}

TEST(BoundOptimizer, AgreesWithTheExactUpdate) {
  Subject s(Dtype::fp32, 5);
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  const Matrix<float> g = s.values(2, 3), b = s.values(2, 3), p = s.values(2, 3);
  const Matrix<float> v = s.values(2, 3).cwiseAbs2();
  const auto agree = [](const Matrix<long double>& a, const Matrix<long double>& exact) {
    EXPECT_LE((a - exact).cwiseAbs().maxCoeff(), exact.cwiseAbs().maxCoeff() * 0x1p-58L);
  };
  for (const Choice& choice : {sgd("0.9", "0", true), sgd("0.9", "0.2", false), sgd("0", "0", false)}) {
    const bool momentum = choice.number("momentum").text != "0";
    Slot<long double> slot{exactly(p).v};
    if (momentum) slot.state = {exactly(b).v};
    const auto exact = updated<long double>(choice, 0.125L, 3, exactly(g).v, slot);
    const Expected moved = momentum ? sgd_momentum(subject, choice, exactly(g), exactly(b)) : Expected{};
    agree(sgd_parameter(subject, choice, exact_rate(0.125f), exactly(g), moved, exactly(p)).v, exact.parameter);
  }
  const Slot<long double> slot{exactly(p).v, {exactly(b).v, exactly(v).v}};
  const auto exact = updated<long double>(adam(), 0.125L, 3, exactly(g).v, slot);
  const Expected m1 = adam_exp_avg(subject, adam(), exactly(g), exactly(b));
  const Expected m2 = adam_exp_avg_sq(subject, adam(), exactly(g), exactly(v));
  agree(m1.v, exact.state[0]);
  agree(m2.v, exact.state[1]);
  agree(adam_parameter(subject, adam(), 0.125L, 3, m1, m2, exactly(p), false).v, exact.parameter);
}

/// A gradient that is gone leaves a first moment beside a second one of zero: m / eps overflows before the rate could
/// make a step of it.
TEST(BoundOptimizer, CallsAdamsStepUndecidedWhereItsQuotientMayOverflow) {
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  const Choice tiny{"adam", {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0"}}, {"eps", Decimal{"1e-38"}}}};
  const Expected m = exactly(Matrix<float>::Constant(1, 1, 9.0f));
  Expected none = exactly(Matrix<float>::Zero(1, 1));
  none.e.fill(0x1p-149);
  const auto step = [&](const Choice& optimizer, double rate, const Expected& v) {
    return adam_parameter(subject, optimizer, rate, 1, m, v, exactly(Matrix<float>::Ones(1, 1)), false).e(0, 0);
  };

  EXPECT_TRUE(std::isinf(step(tiny, 1e-3, none)));
  EXPECT_TRUE(std::isinf(step(tiny, 0, none)));
  EXPECT_FALSE(std::isinf(step(adam(), 1e-3, none)));
}

struct AdamState {
  Matrix<float> m, v, p;
};

/// One step in floats; `t` counts from 0.
AdamState adam_step(const AdamState& old, const Matrix<float>& g, double lr, int t, bool correct_bias = true) {
  AdamState now = old;
  const auto beta1 = 0.9f, beta2 = 0.999f, rest1 = static_cast<float>(1 - 0.9), rest2 = static_cast<float>(1 - 0.999);
  const auto rate = static_cast<float>(correct_bias ? lr / (1 - std::pow(0.9, t + 1)) : lr);
  const auto root = static_cast<float>(std::sqrt(1 - std::pow(0.999, t + 1)));
  for (Eigen::Index i = 0; i < g.size(); ++i) {
    float &m = now.m.data()[i], &v = now.v.data()[i];
    const float x = g.data()[i];
    m = beta1 * m + rest1 * x;
    v = beta2 * v + rest2 * (x * x);
    now.p.data()[i] -= rate * (m / (std::sqrt(v) / root + 1e-8f));
  }
  return now;
}

TEST(BoundOptimizer, HoldsAMomentThatIsInterpolatedWhereThatIsClaimed) {
  Claims claims;
  claims.kernels["adam"].algorithm = "interpolated";
  const Claims unclaimed;
  const Declared subject = declared(fp32, claims), other = declared(fp32, unclaimed);
  for (const double beta : {0.9, 0.6, 0.5, 0.25, 0.1}) {
    Choice optimizer = adam();
    optimizer.options["beta1"] = Decimal{std::to_string(beta)};
    Worst held, not_held;
    for (unsigned seed = 1; seed <= 60; ++seed) {
      Subject s(Dtype::fp32, seed);
      const Matrix<float> g = s.values(4, 25, 0.1), m = s.values(4, 25, seed % 3 == 0 ? 1e4 : 0.1);
      Matrix<float> now = m;
      const auto w = static_cast<float>(1 - beta);
      for (Eigen::Index i = 0; i < g.size(); ++i) {
        const float distance = g.data()[i] - m.data()[i];
        now.data()[i] = w < 0.5f ? m.data()[i] + w * distance : g.data()[i] - distance * (1.0f - w);
      }
      held.hold(adam_exp_avg(subject, optimizer, exactly(g), exactly(m)), now);
      not_held.hold(adam_exp_avg(other, optimizer, exactly(g), exactly(m)), now);
    }
    held.expect_sound("interpolated, beta1 " + std::to_string(beta));
    if (beta == 0.5) {
      EXPECT_GT(not_held.over, 0u) << "products by a half are exact, their distance is not";
    }
  }
}

TEST(BoundOptimizer, HoldsAdamFromTheSubjectsOwnMoments) {
  Worst m, v, p;
  std::uint64_t caught = 0;
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Subject s(Dtype::fp32, seed);
    const Matrix<float> g = s.values(4, 25, seed % 3 == 0 ? 1e-7 : 0.1);
    const AdamState old{s.values(4, 25, 0.1), s.values(4, 25, 0.1).cwiseAbs2(), s.values(4, 25)};
    const int t = static_cast<int>(seed % 7);
    const AdamState now = adam_step(old, g, 0.01, t);
    const long double rate = number<long double>(Decimal{"0.01"});
    m.hold(adam_exp_avg(subject, adam(), exactly(g), exactly(old.m)), now.m);
    v.hold(adam_exp_avg_sq(subject, adam(), exactly(g), exactly(old.v)), now.v);
    const Expected bound =
        adam_parameter(subject, adam(), rate, t, exactly(now.m), exactly(now.v), exactly(old.p), false);
    p.hold(bound, now.p);
    Worst wrong;
    wrong.hold(bound, adam_step(old, g, 0.01, t, false).p);
    caught += wrong.over > 0 ? 1 : 0;
  }
  m.expect_sound("adam exp_avg");
  v.expect_sound("adam exp_avg_sq");
  p.expect_sound("adam parameter");
  EXPECT_EQ(caught, 60u) << "a missing bias correction must leave the bound";
}

/// Gradients known within e, many of them of unknown sign: the cap keeps the step's bound near the largest step.
TEST(BoundOptimizer, HoldsAdamFromZeroMomentsOverSeveralUncertainSteps) {
  Worst p;
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  const long double rate = number<long double>(Decimal{"0.01"});
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Subject s(Dtype::fp32, seed);
    AdamState state{Matrix<float>::Zero(2, 25), Matrix<float>::Zero(2, 25), s.values(2, 25)};
    Expected m, v, parameter = exactly(state.p);
    for (int t = 0; t < 3; ++t) {
      Expected g = exactly(s.values(2, 25, 0.01));
      g.e.setConstant(0.005);
      Matrix<float> moved = g.v.cast<float>();
      std::uniform_real_distribution<float> within(-0.0049f, 0.0049f);
      for (Eigen::Index i = 0; i < moved.size(); ++i) moved.data()[i] += within(s.random());
      state = adam_step(state, moved, 0.01, t);
      m = adam_exp_avg(subject, adam(), g, m);
      v = adam_exp_avg_sq(subject, adam(), g, v);
      parameter = adam_parameter(subject, adam(), rate, t, m, v, parameter, true);
      p.hold(parameter, state.p);
    }
    EXPECT_LE(parameter.e.maxCoeff(), 3 * 2 * 0.01 * 2);  // three steps of at most about lr either way
  }
  p.expect_sound("adam parameter, three steps");
}

/// A rate base factor^n is off by the factor's own rounding n times over before it becomes a constant.
TEST(BoundOptimizer, HoldsAdamsRateAfterAsManySteps) {
  Worst worst;
  std::uint64_t without_the_margin = 0;
  const Claims claims;
  const Declared subject = declared(fp32, claims);
  const std::int64_t t = std::int64_t{1} << 36;
  const Matrix<float> one = Matrix<float>::Ones(1, 1), zero = Matrix<float>::Zero(1, 1);
  Choice plain = adam();
  plain.options["beta2"] = Decimal{"0"};  // the correction of v is 1
  for (const char* factor : {"0.9999999999", "0.99999999991", "0.99999999983", "0.99999999997"}) {
    const Choice schedule{"step", {{"base", Decimal{"0.1"}}, {"every", std::int64_t{1}}, {"factor", Decimal{factor}}}};
    const StepRate rate = step_rate(schedule, t);
    const double derived = 0.1 * std::pow(Decimal{factor}.to_double(), static_cast<double>(t));
    const auto held = static_cast<float>(derived / (1 - std::pow(0.9, static_cast<double>(t + 1))));
    const Matrix<float> moved = Matrix<float>::Constant(1, 1, 0.0f - held * (1.0f / (1.0f + 1e-8f)));
    worst.hold(adam_parameter(subject, plain, rate, t, exactly(one), exactly(one), exactly(zero), false), moved);
    Worst blind;
    blind.hold(adam_parameter(subject, plain, rate.exact, t, exactly(one), exactly(one), exactly(zero), false), moved);
    without_the_margin += blind.over;
  }
  worst.expect_sound("adam's rate, 2^36 steps of a power");
  EXPECT_GT(without_the_margin, 0u) << "no factor is off far enough: nothing was shown";
}

}  // namespace
}  // namespace tally::oracle::bound_optimizer_test
