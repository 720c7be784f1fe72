// Adafactor: the exact step by hand, its bounds against floats, steps that must leave them, and the bits that are
// predicted.
#include <functional>

#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/exact/trajectory.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "tests/oracle/case/refusal.hpp"
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::adafactor_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

Choice adafactor(const char* d = "1") {
  return {"adafactor",
          {{"decay", Decimal{"0.8"}},
           {"eps1", Decimal{"1.1920928955078125e-7"}},
           {"eps2", Decimal{"1e-3"}},
           {"d", Decimal{d}}}};
}

Matrix<long double> matrix(std::initializer_list<std::initializer_list<long double>> rows) {
  return Matrix<long double>(rows);
}

/// Rows 2.5 and 12.5, columns 5 and 10, their mean 7.5: v = 5/3, 10/3, 25/3, 50/3 and u² = 0.6, 1.2, 1.08, 0.96.
TEST(Adafactor, StepsAMatrixByItsFactors) {
  const Matrix<long double> zeros = Matrix<long double>::Zero(2, 1);
  const Slot<long double> old{Matrix<long double>::Constant(2, 2, 2), {zeros, zeros.transpose(), {}}};
  const auto now = updated<long double>(adafactor(), 0.5L, 0, matrix({{1, 2}, {3, 4}}), old);
  EXPECT_EQ(now.state[0], matrix({{2.5L}, {12.5L}}));
  EXPECT_EQ(now.state[1], matrix({{5, 10}}));
  EXPECT_EQ(now.state[2].size(), 0);
  const Matrix<long double> moved =
      matrix({{0.6L, 1.2L}, {1.08L, 0.96L}}).cwiseSqrt();  // by an RMS below 1, and max(eps2, 2) / 2
  EXPECT_LE((Matrix<long double>::Constant(2, 2, 2) - moved - now.parameter).cwiseAbs().maxCoeff(), 0x1p-60L);
}

/// Of the second step w = 2^-0.8 and 1 / sqrt(2) is the rate; RMS(u) = 2 is clipped where d is 1.
TEST(Adafactor, StepsAVectorByItsOwnSquares) {
  const long double w = std::pow(2.0L, -0.8L);
  const auto step = [&](const char* d) {
    const Slot<long double> old{matrix({{3, -4}}), {{}, {}, matrix({{0, 0}})}};
    return updated<long double>(adafactor(d), 10, 1, matrix({{3, -5}}), old);
  };
  const long double alpha = std::sqrt(12.5L / 2), u = 1 / std::sqrt(w);
  EXPECT_LE((step("4").state[2] - w * matrix({{9, 25}})).cwiseAbs().maxCoeff(), 0x1p-58L);
  EXPECT_LE((step("4").parameter - matrix({{3 - alpha * u, -4 + alpha * u}})).cwiseAbs().maxCoeff(), 0x1p-58L);
  EXPECT_LE((step("1").parameter - matrix({{3 - alpha, -4 + alpha}})).cwiseAbs().maxCoeff(), 0x1p-58L);
}

TEST(Adafactor, KeepsRowsAndColumnsOfAMatrixAndAllOfAVector) {
  const auto shapes = [](const std::vector<std::int64_t>& parameter) {
    std::vector<std::vector<std::int64_t>> all;
    for (const StateTensor* each : state_of(adafactor()))
      all.push_back(shape_beside(*each, adafactor(), parameter).value_or(std::vector<std::int64_t>{-1}));
    return all;
  };
  using Shapes = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(shapes({4, 3}), (Shapes{{4, 1}, {1, 3}, {-1}}));
  EXPECT_EQ(shapes({2, 4, 3}), (Shapes{{2, 4, 1}, {2, 1, 3}, {-1}}));
  EXPECT_EQ(shapes({3}), (Shapes{{-1}, {-1}, {3}}));
  EXPECT_EQ(shapes({}), (Shapes{{-1}, {-1}, {}}));
}

/// No rank's piece has the means of all rows, columns and elements.
TEST(Adafactor, CannotBeSharedByRanks) {
  const auto refused = [](const std::string& sharding) {
    return refusal(R"({"tally_case": 3, "name": "", "windows": [[[1], [1]]],
      "model": {"input": 1, "layers": [{"kind": "linear", "name": "fc", "out": 1, "bias": false}],
                "loss": {"kind": "mse"}},
      "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
      "recipe": {"optimizer": {"kind": "adafactor"}, "learning_rate": {"kind": "constant", "base": 0.01},
                 "weight_decay": {"kind": "none"}, "clip": {"kind": "none"}, "loss_scale": {"kind": "none"}},
      "execution": {"ranks": {"sharding": ")" +
                   sharding + R"("}},
      "tensors": {"x": {"dtype": "fp32", "shape": [2, 1], "data": [1, 2]},
                  "target": {"dtype": "fp32", "shape": [2, 1], "data": [0, 1]},
                  "fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [0.5]}}})");
  };
  EXPECT_EQ(refused("none"), "");
  EXPECT_EQ(refused("optimizer"),
            "$.execution.ranks.sharding: \"optimizer\" beside the optimizer \"adafactor\", whose step reads whole "
            "tensors; \"none\"");
}

struct State {
  std::vector<Matrix<float>> kept;  // rows, columns, variance
  Matrix<float> p;
};

/// What a wrong subject does.
enum class Wrong { nothing, sums_for_means, mean_before_square, no_rms_of_update, no_rms_of_parameter, no_decay };

using Term = std::function<float(Eigen::Index)>;

/// Of so many terms, in some order.
float sum(Subject& s, Eigen::Index n, const Term& term) {
  std::vector<float> terms;
  for (Eigen::Index i = 0; i < n; ++i) terms.push_back(term(i));
  return s.sum(terms);
}
float mean(Subject& s, Eigen::Index n, const Term& term) { return sum(s, n, term) / static_cast<float>(n); }

/// By their sum, or by the square of their norm.
float mean_of_squares(Subject& s, Eigen::Index n, Wrong wrong, const Term& square) {
  const float total = sum(s, n, square), root = std::sqrt(total);
  const float used = s.random()() % 2 == 0 ? total : root * root;
  return wrong == Wrong::sums_for_means ? used : used / static_cast<float>(n);
}

float interpolated(float old, float now, float w) {
  return w < 0.5f ? old + w * (now - old) : now - (1.0f - w) * (now - old);
}

struct Setting {
  int step;
  Wrong wrong = Wrong::nothing;
  float rate = 0.01f;
  Eigen::Index matrices = 1;
  float share() const { return wrong == Wrong::no_decay ? 0.001f : static_cast<float>(std::pow(step + 1.0, -0.8)); }
};

void move_state(Subject& s, State& now, const Matrix<float>& g, const Setting& at) {
  const Eigen::Index of_one = g.rows() / at.matrices;
  const auto squared = [&](Eigen::Index i, Eigen::Index j) { return g(i, j) * g(i, j); };
  for (Eigen::Index i = 0; i < now.kept[0].size(); ++i) {
    float average = mean_of_squares(s, g.cols(), at.wrong, [&](auto j) { return squared(i, j); });
    if (at.wrong == Wrong::mean_before_square) average = std::pow(g.row(i).mean(), 2.0f);
    now.kept[0](i) = interpolated(now.kept[0](i), average, at.share());
  }
  for (Eigen::Index m = 0; m < now.kept[1].rows(); ++m)
    for (Eigen::Index j = 0; j < now.kept[1].cols(); ++j) {
      const float average = mean_of_squares(s, of_one, at.wrong, [&](auto i) { return squared(m * of_one + i, j); });
      now.kept[1](m, j) = interpolated(now.kept[1](m, j), average, at.share());
    }
  for (Eigen::Index j = 0; j < now.kept[2].size(); ++j)
    now.kept[2](j) = interpolated(now.kept[2](j), squared(0, j), at.share());
}

Matrix<float> update(Subject& s, const State& now, const Matrix<float>& g, const Setting& at) {
  constexpr float eps1 = 0x1p-23f;
  const Eigen::Index of_one = g.rows() / at.matrices;
  Matrix<float> u = g;
  for (Eigen::Index i = 0; i < g.rows(); ++i)
    for (Eigen::Index j = 0; j < g.cols(); ++j) {
      const Eigen::Index m = i / of_one;
      const auto row = [&](Eigen::Index k) { return now.kept[0](m * of_one + k); };
      const bool factored = now.kept[0].size() != 0;
      const float v =
          factored ? now.kept[0](i) * now.kept[1](m, j) / std::max(mean(s, of_one, row), eps1) : now.kept[2](j);
      u(i, j) = s.function(1 / std::sqrt(static_cast<double>(std::max(v, eps1 * eps1)))) * g(i, j);
    }
  return u;
}

/// One step in floats.
State stepped(Subject& s, const State& old, const Matrix<float>& g, const Setting& at) {
  State now = old;
  move_state(s, now, g, at);
  const Matrix<float> u = update(s, now, g, at);
  const auto rms = [&](const Matrix<float>& x) {
    return std::sqrt(mean(s, x.size(), [&](auto i) { return x.data()[i] * x.data()[i]; }));
  };
  const auto rho = static_cast<float>(std::min<double>(at.rate, 1 / std::sqrt(at.step + 1.0)));
  const float alpha = (at.wrong == Wrong::no_rms_of_parameter ? 1.0f : std::max(1e-3f, rms(old.p))) * rho;
  const float divisor = at.wrong == Wrong::no_rms_of_update ? 1.0f : std::max(1.0f, rms(u));
  now.p = old.p - alpha / divisor * u;
  return now;
}

/// Adafactor's rules, of a subject that claims nothing.
class Bounds {
 public:
  std::vector<Expected> state(const Setting& at, const Expected& g, const std::vector<Expected>& before) const {
    std::vector<Expected> after(3);
    for (std::size_t i = 0; i < 3; ++i)
      if (before[i].v.size() != 0) after[i] = rules_.state(i, setting(at), {g, before, after, g});
    return after;
  }
  Expected parameter(const Setting& at, const Expected& g, const std::vector<Expected>& after,
                     const Expected& p) const {
    const Expected rate = exactly(Matrix<float>::Constant(1, 1, at.rate));
    return rules_.parameter(setting(at), rate, {g, after, after, p}, false);
  }

 private:
  StepSetting setting(const Setting& at) const { return {subject_, choice_, schedule_, at.step}; }

  const Claims claims_;
  const Declared subject_ = declared(Precision{}, claims_);
  const Choice choice_ = adafactor(), schedule_{"constant", {{"base", Decimal{"0.01"}}}};
  const OptimizerRules& rules_ = rules_of(choice_);
};

std::vector<Expected> exactly(const std::vector<Matrix<float>>& all) {
  std::vector<Expected> result;
  for (const auto& each : all) result.push_back(emulation::exactly(each));
  return result;
}

/// A matrix, two of them, and a vector.
State drawn(Subject& s, int kind, Matrix<float>& g, bool fresh) {
  const Eigen::Index rows = kind == 2 ? 1 : 6, matrices = kind == 1 ? 2 : 1;
  const auto squares = [&](Eigen::Index r, Eigen::Index c) {
    Matrix<float> x = s.values(r, c).cwiseAbs2();
    return fresh ? Matrix<float>(Matrix<float>::Zero(r, c)) : x;
  };
  g = s.values(rows, 25, s.random()() % 3 == 0 ? 1e-8 : 0.1);
  const Matrix<float> p = s.values(rows, 25, s.random()() % 3 == 0 ? 1e-5 : 1);
  if (kind == 2) return {{{}, {}, squares(1, 25)}, p};
  return {{squares(rows, 1), squares(matrices, 25), {}}, p};
}

Setting setting_of(int kind, unsigned seed) {
  Setting at{static_cast<int>(seed % 7)};
  at.matrices = kind == 1 ? 2 : 1;
  at.rate = seed % 5 == 0 ? 0.75f : 0.01f;
  return at;
}

TEST(Adafactor, KeepsItsBoundFromTheSubjectsOwnState) {
  const Bounds bounds;
  const char* const names[] = {"matrix", "two matrices", "vector"};
  for (int kind = 0; kind < 3; ++kind) {
    Worst state, parameter;
    for (unsigned seed = 1; seed <= 80; ++seed) {
      Subject s(Dtype::fp32, seed);
      Matrix<float> g;
      const State old = drawn(s, kind, g, seed % 4 == 0);
      const Setting at = setting_of(kind, seed);
      const State now = stepped(s, old, g, at);
      const auto expected = bounds.state(at, emulation::exactly(g), exactly(old.kept));
      for (std::size_t i = 0; i < 3; ++i)
        if (now.kept[i].size() != 0) state.hold(expected[i], now.kept[i]);
      parameter.hold(bounds.parameter(at, emulation::exactly(g), exactly(now.kept), emulation::exactly(old.p)), now.p);
    }
    state.expect_sound(std::string("adafactor state, ") + names[kind]);
    parameter.expect_sound(std::string("adafactor parameter, ") + names[kind]);
  }
}

TEST(Adafactor, LeavesItsBoundWhereAPartIsLeftOut) {
  const Bounds bounds;
  for (const Wrong wrong : {Wrong::sums_for_means, Wrong::mean_before_square, Wrong::no_rms_of_update,
                            Wrong::no_rms_of_parameter, Wrong::no_decay}) {
    Worst all;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      Subject s(Dtype::fp32, seed);
      Matrix<float> g;
      State old = drawn(s, 0, g, false);
      for (Matrix<float>& kept : old.kept) kept *= 1e-3f;  // so that updates are clipped
      Setting at = setting_of(0, seed);
      at.wrong = wrong;
      const State now = stepped(s, old, g, at);
      const auto expected = bounds.state(at, emulation::exactly(g), exactly(old.kept));
      for (std::size_t i = 0; i < 2; ++i) all.hold(expected[i], now.kept[i]);
      all.hold(bounds.parameter(at, emulation::exactly(g), exactly(now.kept), emulation::exactly(old.p)), now.p);
    }
    EXPECT_GT(all.over, 0u) << static_cast<int>(wrong);
  }
}

/// Gradients known within e, so that rows, columns, update and RMS are all uncertain, and some intervals reach 0.
TEST(Adafactor, KeepsItsBoundOverSeveralUncertainSteps) {
  const Bounds bounds;
  for (int kind = 0; kind < 3; ++kind) {
    Worst parameter;
    for (unsigned seed = 1; seed <= 40; ++seed) {
      Subject s(Dtype::fp32, seed);
      Matrix<float> g;
      State state = drawn(s, kind, g, true);
      std::vector<Expected> kept = exactly(state.kept);
      Expected p = emulation::exactly(state.p);
      for (int t = 0; t < 3; ++t) {
        Setting at = setting_of(kind, seed);
        at.step = t;
        Expected known = emulation::exactly(s.values(g.rows(), g.cols(), 0.01));
        known.e.setConstant(seed % 2 == 0 ? 1e-5 : 5e-3);
        std::uniform_real_distribution<float> within(-0.99f, 0.99f);
        Matrix<float> own = known.v.cast<float>();
        for (Eigen::Index i = 0; i < own.size(); ++i)
          own.data()[i] += within(s.random()) * static_cast<float>(known.e(0, 0));
        kept = bounds.state(at, known, kept);
        p = bounds.parameter(at, known, kept, p);
        state = stepped(s, state, own, at);
        parameter.hold(p, state.p);
        EXPECT_TRUE(p.e.allFinite());
      }
    }
    parameter.expect_sound("adafactor, uncertain steps " + std::to_string(kind));
  }
}

/// The mean of two rows may be below eps1, which then takes its place, or a fifth above.
TEST(Adafactor, KeepsItsBoundWhereTheMeanOfRowsMayBeBelowEps1) {
  constexpr float eps1 = 0x1p-23f;
  Subject s(Dtype::fp32, 1);
  const Setting at{0};
  const Matrix<float> g = Matrix<float>::Constant(2, 1, 0.01f), p = Matrix<float>::Zero(2, 1);
  State known{{Matrix<float>::Constant(2, 1, eps1), Matrix<float>::Ones(1, 1), {}}, p}, own = known;
  own.kept[0](1) = 1.375f * eps1, own.kept[1](0) = 0.8125f;
  std::vector<Expected> after = exactly(known.kept);
  for (std::size_t i = 0; i < 2; ++i) after[i].e = (own.kept[i] - known.kept[i]).cwiseAbs().cast<double>();
  own.p = -1e-3f * at.rate * update(s, own, g, at);  // RMS(p) is below eps2, and RMS(u) below 1

  Worst parameter;
  parameter.hold(Bounds().parameter(at, emulation::exactly(g), after, emulation::exactly(p)), own.p);
  parameter.expect_sound("adafactor, a mean around eps1");
}

TEST(Adafactor, PredictsTheBitsThatNoSumGoesInto) {
  Claims claims;
  claims.kernels["adafactor"].as_written = true;
  const Declared subject = declared(Precision{}, claims);
  const Choice choice = adafactor(), schedule{"constant", {{"base", Decimal{"0.01"}}}};
  Subject s(Dtype::fp32, 3);
  Matrix<float> g;
  for (const int step : {0, 1, 5}) {
    const State old = drawn(s, 2, g, false), now = stepped(s, old, g, {step});
    const StepTensors<Matrix<float>> read{g, old.kept, {}, old.p};
    EXPECT_EQ(*rules_of(choice).predicted_state(2, {subject, choice, schedule, step}, read), now.kept[2]);
    EXPECT_FALSE(rules_of(choice).predicted_state(0, {subject, choice, schedule, step}, read));
  }
}

}  // namespace
}  // namespace tally::oracle::adafactor_test
