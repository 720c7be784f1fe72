// RMSProp: the exact step, its bounds against floats, and the bits that are predicted.
#include "oracle/recipe/recipe_rules.hpp"
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::rmsprop_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

Choice rmsprop(const char* momentum, const char* alpha = "0.99", const char* eps = "1e-8") {
  return {"rmsprop", {{"alpha", Decimal{alpha}}, {"eps", Decimal{eps}}, {"momentum", Decimal{momentum}}}};
}

struct State {
  Matrix<float> v, b, p;
};

/// One step in floats.
State stepped(const State& old, const Matrix<float>& g, bool momentum, bool inside_root = false) {
  State now = old;
  const float alpha = 0.99f, rest = static_cast<float>(1 - 0.99), eps = 1e-8f, mu = 0.9f, lr = 0.01f;
  for (Eigen::Index i = 0; i < g.size(); ++i) {
    float &v = now.v.data()[i], &b = now.b.data()[i];
    const float x = g.data()[i];
    v = alpha * v + rest * (x * x);
    const float divisor = inside_root ? std::sqrt(v + eps) : std::sqrt(v) + eps;
    float direction = x / divisor;
    if (momentum) direction = b = mu * b + direction;
    now.p.data()[i] -= lr * direction;
  }
  return now;
}

TEST(Rmsprop, DividesByTheRootOfTheNewSecondMoment) {
  const Slot<long double> old{Matrix<long double>::Constant(1, 1, 10), {Matrix<long double>::Constant(1, 1, 16)}};
  const auto now = updated<long double>(rmsprop("0", "0.75", "1"), 2, 0, Matrix<long double>::Constant(1, 1, 4), old);
  EXPECT_EQ(now.state[0](0), 16);
  EXPECT_EQ(now.parameter(0), 10 - 2.0L * 4 / (4 + 1));
}

TEST(Rmsprop, KeepsItsBoundFromTheSubjectsOwnState) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const Expected rate = exactly(Matrix<float>::Constant(1, 1, 0.01f));
  for (const bool momentum : {false, true}) {
    const Choice choice = rmsprop(momentum ? "0.9" : "0");
    Worst v, b, p;
    std::uint64_t caught = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
      Subject s(Dtype::fp32, seed);
      const Matrix<float> g = s.values(4, 25, seed % 3 == 0 ? 1e-5 : 0.1);
      const State old{s.values(4, 25, 0.1).cwiseAbs2(), s.values(4, 25), s.values(4, 25)};
      const State now = stepped(old, g, momentum);
      v.hold(rmsprop_square(subject, choice, exactly(g), exactly(old.v)), now.v);
      if (momentum) b.hold(rmsprop_buffer(subject, choice, exactly(g), exactly(now.v), exactly(old.b)), now.b);
      const Expected buffer = momentum ? exactly(now.b) : Expected{};
      p.hold(rmsprop_parameter(subject, choice, rate, exactly(g), exactly(now.v), buffer, exactly(old.p)), now.p);
      const State none{Matrix<float>::Zero(4, 25), old.b, old.p}, wrong = stepped(none, g, false, true);
      const Matrix<float> own = wrong.v;
      Worst over;
      over.hold(rmsprop_parameter(subject, rmsprop("0"), rate, exactly(g), exactly(own), {}, exactly(old.p)), wrong.p);
      caught += over.over > 0 ? 1 : 0;
    }
    v.expect_sound("rmsprop square_avg");
    if (momentum) b.expect_sound("rmsprop momentum_buffer");
    p.expect_sound("rmsprop parameter");
    EXPECT_EQ(caught, 60u) << "epsilon under the root must leave the bound";
  }
}

/// Gradients known within e, many of them of unknown sign, so that the second moment's interval begins at 0.
TEST(Rmsprop, KeepsItsBoundOverSeveralUncertainSteps) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const Expected rate = exactly(Matrix<float>::Constant(1, 1, 0.01f));
  Worst p;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Subject s(Dtype::fp32, seed);
    State state{Matrix<float>::Zero(2, 25), Matrix<float>::Zero(2, 25), s.values(2, 25)};
    Expected v, parameter = exactly(state.p);
    for (int t = 0; t < 3; ++t) {
      Expected g = exactly(s.values(2, 25, 0.01));
      g.e.setConstant(0.005);
      Matrix<float> own = g.v.cast<float>();
      std::uniform_real_distribution<float> within(-0.0049f, 0.0049f);
      for (Eigen::Index i = 0; i < own.size(); ++i) own.data()[i] += within(s.random());
      v = rmsprop_square(subject, rmsprop("0"), g, v);
      parameter = rmsprop_parameter(subject, rmsprop("0"), rate, g, v, {}, parameter);
      state = stepped(state, own, false);
      p.hold(parameter, state.p);
      EXPECT_TRUE(parameter.e.allFinite());
      // 0.01 times 1 / sqrt(1 - 0.99), twice a step, and roundings.
      EXPECT_LE(parameter.e.maxCoeff(), 0.21 * (t + 1));
    }
  }
  EXPECT_EQ(p.over, 0u);
}

/// 1 - alpha is 1/4, so that no quotient is above 2 but for roundings; eps is sqrt(3 eta / (1 - alpha)), so that what may
/// have underflowed doubles it.
TEST(Rmsprop, HoldsQuotientsOfAnUnknownSquareToWhatTheirOwnGradientAllows) {
  const Claims claims;
  const Expected unknown{Matrix<long double>::Zero(1, 1), Matrix<double>::Ones(1, 1)};
  const Choice choice = rmsprop("0", "0.75", "9.1694e-23");
  const Expected quotient = rmsprop_buffer(declared(Precision{}, claims), choice, unknown, unknown, {});
  EXPECT_GE(quotient.e(0, 0), 3.999);
  EXPECT_LE(quotient.e(0, 0), 4.001);
}

TEST(Rmsprop, BitsArePredictedWhereTheyAreAsWritten) {
  Claims claims;
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  EXPECT_FALSE(predicted_square(declared(Precision{}, claims), rmsprop("0"), one, one));
  claims.kernels["rmsprop"].as_written = true;
  Subject s(Dtype::fp32, 3);
  const Declared subject = declared(Precision{}, claims);
  const Matrix<float> g = s.values(4, 25);
  const State old{s.values(4, 25).cwiseAbs2(), s.values(4, 25), s.values(4, 25)};
  for (const bool momentum : {false, true}) {
    const Choice choice = rmsprop(momentum ? "0.9" : "0");
    const State now = stepped(old, g, momentum);
    EXPECT_EQ(*predicted_square(subject, choice, g, old.v), now.v);
    if (momentum) {
      EXPECT_EQ(*predicted_buffer(subject, choice, g, now.v, old.b), now.b);
    }
    const Matrix<float> buffer = momentum ? now.b : Matrix<float>();
    EXPECT_EQ(*predicted_rmsprop_parameter(subject, choice, 0.01f, g, now.v, buffer, old.p), now.p);
  }
}

}  // namespace
}  // namespace tally::oracle::rmsprop_test
