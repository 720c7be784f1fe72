// Lion: the exact step, its bounds against floats, an open sign, and the bits that are predicted.
#include "oracle/recipe/recipe_rules.hpp"
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::lion_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

Choice lion() { return {"lion", {{"beta1", Decimal{"0.9"}}, {"beta2", Decimal{"0.99"}}}}; }

struct State {
  Matrix<float> m, p;
};

/// One step in floats; `late`: the sign is that of the new momentum.
State stepped(const State& old, const Matrix<float>& g, bool late = false) {
  State now = old;
  const float beta1 = 0.9f, rest1 = static_cast<float>(1 - 0.9), beta2 = 0.99f, rest2 = static_cast<float>(1 - 0.99);
  for (Eigen::Index i = 0; i < g.size(); ++i) {
    const float m = old.m.data()[i], x = g.data()[i];
    now.m.data()[i] = beta2 * m + rest2 * x;
    const float c = late ? now.m.data()[i] : beta1 * m + rest1 * x;
    now.p.data()[i] -= 0.01f * static_cast<float>((c > 0) - (c < 0));
  }
  return now;
}

TEST(Lion, MovesByTheSignOfTheInterpolation) {
  const auto at = [](long double m, long double g) {
    const Slot<long double> old{Matrix<long double>::Constant(1, 1, 10), {Matrix<long double>::Constant(1, 1, m)}};
    const Choice choice{"lion", {{"beta1", Decimal{"0.5"}}, {"beta2", Decimal{"0.75"}}}};
    return updated<long double>(choice, 2, 0, Matrix<long double>::Constant(1, 1, g), old);
  };
  EXPECT_EQ(at(4, -2).parameter(0), 8);
  EXPECT_EQ(at(4, -2).state[0](0), 2.5L);
  EXPECT_EQ(at(4, -8).parameter(0), 12);
  EXPECT_EQ(at(4, -4).parameter(0), 10);
}

TEST(Lion, KeepsItsBoundFromTheSubjectsOwnState) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const Expected rate = exactly(Matrix<float>::Constant(1, 1, 0.01f));
  Worst m, p;
  std::uint64_t caught = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Subject s(Dtype::fp32, seed);
    const Matrix<float> g = s.values(4, 25);
    const State old{s.values(4, 25, 0.2), s.values(4, 25)}, now = stepped(old, g);
    m.hold(lion_momentum(subject, lion(), exactly(g), exactly(old.m)), now.m);
    const Expected bound = lion_parameter(subject, lion(), rate, exactly(g), exactly(old.m), exactly(old.p));
    p.hold(bound, now.p);
    Worst wrong;
    wrong.hold(bound, stepped(old, g, true).p);
    caught += wrong.over > 0 ? 1 : 0;
  }
  m.expect_sound("lion exp_avg");
  EXPECT_EQ(p.over, 0u);
  EXPECT_EQ(caught, 60u) << "the sign of the new momentum must leave the bound";
}

TEST(Lion, LeavesTheSignOpenWhereTheIntervalReachesOverZero) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const Expected rate = exactly(Matrix<float>::Constant(1, 1, 0.25f)), p = exactly(Matrix<float>::Ones(1, 3));
  Expected g = exactly(Matrix<float>::Ones(1, 3)), none = exactly(Matrix<float>::Zero(1, 3));
  g.v << 1, 1, 0;
  g.e << 0.5, 1.5, 0;
  const Expected bound = lion_parameter(subject, lion(), rate, g, none, p);
  EXPECT_EQ(bound.v(0, 0), 0.75L);
  EXPECT_LT(bound.e(0, 0), 0x1p-20);
  EXPECT_EQ(bound.v(0, 1), 0.75L);
  EXPECT_GE(bound.e(0, 1), 0.5);
  EXPECT_LT(bound.e(0, 1), 0.5 + 0x1p-20);
  EXPECT_EQ(bound.v(0, 2), 1);
  EXPECT_LT(bound.e(0, 2), 0x1p-20);
}

TEST(Lion, KeepsItsBoundWhicheverSignTheSubjectTakes) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const Expected rate = exactly(Matrix<float>::Constant(1, 1, 0.01f));
  Worst p;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Subject s(Dtype::fp32, seed);
    Expected g = exactly(s.values(4, 25));
    g.e = 2 * g.v.cwiseAbs().cast<double>();
    const State old{Matrix<float>::Zero(4, 25), s.values(4, 25)};
    const Matrix<float> other = -g.v.cast<float>();
    p.hold(lion_parameter(subject, lion(), rate, g, exactly(old.m), exactly(old.p)), stepped(old, other).p);
  }
  EXPECT_EQ(p.over, 0u);
}

TEST(Lion, BitsArePredictedWhereTheyAreAsWritten) {
  Claims claims;
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  EXPECT_FALSE(predicted_lion_momentum(declared(Precision{}, claims), lion(), one, one));
  claims.kernels["lion"].as_written = true;
  Subject s(Dtype::fp32, 3);
  const Declared subject = declared(Precision{}, claims);
  const Matrix<float> g = s.values(4, 25);
  const State old{s.values(4, 25), s.values(4, 25)}, now = stepped(old, g);
  EXPECT_EQ(*predicted_lion_momentum(subject, lion(), g, old.m), now.m);
  EXPECT_EQ(*predicted_lion_parameter(subject, lion(), 0.01f, g, old.m, old.p), now.p);
}

}  // namespace
}  // namespace tally::oracle::lion_test
