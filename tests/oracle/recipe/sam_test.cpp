// Sharpness-aware minimisation: the two exact passes, which windows may be passes, and the bounds against floats.
#include "oracle/case/tensors/tensor.hpp"
#include "oracle/recipe/recipe_rules.hpp"
#include "oracle/window/bound_stages.hpp"
#include "tests/oracle/case/refusal.hpp"
#include "tests/oracle/tolerance/emulation.hpp"

namespace tally::oracle::sam_test {
namespace {

using emulation::exactly;
using emulation::Subject;
using emulation::Worst;

Choice ascent(const char* rho) {
  return {"sam_ascent", {{"rho", Decimal{rho}}, {"norm", std::string("2")}, {"epsilon", Decimal{"1e-12"}}}};
}

Matrix<long double> one(long double x) { return Matrix<long double>::Constant(1, 1, x); }

TEST(Sam, GoesUpByTheRadiusAndDownFromWhereItBegan) {
  const Choice optimizer{"sam", {}};
  const Slot<long double> up = updated<long double>(optimizer, 0.5L, 4, one(2), {one(10), {{}}});
  EXPECT_EQ(up.parameter(0), 12);
  EXPECT_EQ(up.state[0](0), 10);
  const Slot<long double> down = updated<long double>(optimizer, 0.5L, 5, one(3), up);
  EXPECT_EQ(down.parameter(0), 8.5L);
  EXPECT_EQ(down.state[0](0), 10);
  EXPECT_EQ(clip_coefficient<long double>({"sam_ascent", {{"rho", Decimal{"3"}}, {"epsilon", Decimal{"1"}}}}, 2, 0), 1);
  EXPECT_EQ(clip_coefficient<long double>({"sam_ascent", {{"rho", Decimal{"3"}}, {"epsilon", Decimal{"1"}}}}, 5, 2),
            0.5L);
  EXPECT_EQ(clip_coefficient<long double>(ascent("3"), 5, 1), 1);
}

/// Of two windows of these cuts and rows; `changed` takes the place of a part of the recipe.
std::string refused(const std::string& cuts, const std::string& rows, const std::string& recipe,
                    const std::string& more = "") {
  return refusal(R"({"tally_case": 3, "name": "", "windows": )" + cuts + R"(,
    "model": {"input": 1, "layers": [{"kind": "linear", "name": "fc", "out": 1, "bias": false}],
              "loss": {"kind": "mse"}},
    "precision": {"storage": "fp32", "compute": "fp32", "accumulate": "fp32", "master": "fp32", "tf32": false},
    "recipe": {"learning_rate": {"kind": "constant", "base": 0.01}, )" +
                 recipe + R"(},
    "tensors": {"x": {"dtype": "fp32", "shape": [4, 1], "data": [)" +
                 rows + R"(]}, "target": {"dtype": "fp32", "shape": [4, 1], "data": [0, 1, 0, 1]},
                )" +
                 more + R"("fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [0.5]}}})");
}

const std::string plain = R"("weight_decay": {"kind": "none"}, "loss_scale": {"kind": "none"}, )";
const std::string sam = R"("optimizer": {"kind": "sam"}, "clip": {"kind": "sam_ascent"})";

TEST(Sam, ReadsTheSameRowsTwice) {
  EXPECT_EQ(refused("[[[1], [1]], [[1], [1]]]", "1, 2, 1, 2", plain + sam), "");
  EXPECT_EQ(refused("[[[1], [1]], [[1], [1]]]", "1, 2, 1, 3", plain + sam),
            "$.tensors.x: other rows in window 1 than in window 0; the same rows in both: they are passes of one step");
  EXPECT_EQ(refused("[[[1], [1]], [[2]]]", "1, 2, 1, 2", plain + sam),
            "$.windows[1]: other micro-batches than those of window 0; the same ones: they are passes of one step");
}

TEST(Sam, StandsBesideWhatKeepsItsPassesTogether) {
  const std::string windows = "[[[1], [1]], [[1], [1]]]", rows = "1, 2, 1, 2";
  EXPECT_EQ(refused(windows, rows, plain + R"("optimizer": {"kind": "sam"}, "clip": {"kind": "none"})"),
            "$.recipe.clip.kind: \"none\" beside the optimizer \"sam\"; one of \"sam_ascent\", or an optimizer that is "
            "one of \"adafactor\", \"adam\", \"lion\", \"rmsprop\", \"sgd\"");
  EXPECT_EQ(refused(windows, rows,
                    R"("weight_decay": {"kind": "l2", "lambda": 0.1}, "loss_scale": {"kind": "none"}, )" + sam),
            "$.recipe.weight_decay: \"l2\" beside the optimizer \"sam\", whose step takes several passes; \"none\"");
  EXPECT_EQ(
      refused(windows, rows,
              R"("weight_decay": {"kind": "none"}, "loss_scale": {"kind": "dynamic", "initial": 8}, )" + sam),
      "$.recipe.loss_scale: \"dynamic\" beside the optimizer \"sam\", whose step takes several passes; \"none\" or "
      "\"static\": a pass that is skipped would make the next window a first one");
}

TEST(Sam, BeginsBetweenThePassesWithWhatTheFirstKept) {
  const std::string windows = "[[[1], [1]], [[1], [1]]]",
                    step = R"("step": {"dtype": "i64", "shape": [], "data": [3]}, )";
  EXPECT_EQ(refused(windows, "1, 2, 3, 4", plain + sam, step),
            "$.tensors['kept.fc.weight']: nothing; the kept weights, as step 3 lies between the passes of one step");
  const std::string kept = R"("kept.fc.weight": {"dtype": "fp32", "shape": [1, 1], "data": [0.25]}, )";
  EXPECT_EQ(refused(windows, "1, 2, 3, 4", plain + sam, step + kept), "");
}

struct State {
  Matrix<float> kept, p;
};

/// One pass in floats; `moved`: the second goes on from where the first went.
State stepped(const State& old, const Matrix<float>& g, std::int64_t step, bool moved = false) {
  State now = old;
  for (Eigen::Index i = 0; i < g.size(); ++i) {
    const float x = g.data()[i];
    if (step % 2 == 0) {
      now.kept.data()[i] = old.p.data()[i];
      now.p.data()[i] = old.p.data()[i] + x;
    } else {
      now.p.data()[i] = (moved ? old.p : old.kept).data()[i] - 0.01f * x;
    }
  }
  return now;
}

TEST(Sam, KeepsItsBoundAndItsBits) {
  Claims claims;
  const Choice optimizer{"sam", {}}, schedule{"constant", {{"base", Decimal{"0.01"}}}};
  const OptimizerRules& rules = rules_of(optimizer);
  const Expected rate = exactly(Matrix<float>::Constant(1, 1, 0.01f));
  Worst all, from_moved;
  std::uint64_t uncaught = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const std::int64_t step = seed % 2;
    Subject s(Dtype::fp32, seed);
    const Matrix<float> g = s.values(4, 25);
    const State old{s.values(4, 25), s.values(4, 25)}, now = stepped(old, g, step);
    const Expected gradient = exactly(g), p = exactly(old.p);
    const std::vector<Expected> before{exactly(old.kept)}, after{exactly(now.kept)};
    claims.kernels["sam"].as_written = false;
    const Declared subject = declared(Precision{}, claims);
    all.hold(rules.state(0, {subject, optimizer, schedule, step}, {gradient, before, {}, p}), now.kept);
    const Expected bound =
        rules.parameter({subject, optimizer, schedule, step}, rate, {gradient, before, after, p}, false);
    all.hold(bound, now.p);
    Worst wrong;
    wrong.hold(bound, stepped(old, g, step, true).p);
    uncaught += step == 1 && wrong.over == 0 ? 1 : 0;
    claims.kernels["sam"].as_written = true;
    const Declared written = declared(Precision{}, claims);
    const StepTensors<Matrix<float>> read{g, {old.kept}, {now.kept}, old.p};
    EXPECT_EQ(*rules.predicted_state(0, {written, optimizer, schedule, step}, read), now.kept);
    EXPECT_EQ(*rules.predicted_parameter({written, optimizer, schedule, step}, 0.01f, read), now.p);
  }
  all.expect_sound("sam");
  EXPECT_EQ(uncaught, 0u) << "a step from the moved weights must leave the bound";
}

/// The largest quotient of two uncertain numbers, over all numbers of their intervals that are drawn.
TEST(Sam, KeepsTheBoundOfItsCoefficient) {
  const Claims claims;
  const Declared subject = declared(Precision{}, claims);
  const Choice clip = ascent("0.05");
  Worst all;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Subject s(Dtype::fp32, seed);
    const float norm = std::fabs(s.values(1, 1)(0, 0)), off = seed % 3 == 0 ? 0.0f : norm * 0.25f;
    const float own = norm + off * std::uniform_real_distribution<float>(-0.99f, 0.99f)(s.random());
    const Expected read{Matrix<long double>::Constant(1, 1, norm), Matrix<double>::Constant(1, 1, off)};
    all.hold(coefficient(subject, clip, read, 2), Matrix<float>::Constant(1, 1, 0.05f / (own + 1e-12f)));
  }
  all.expect_sound("sam coefficient");
  EXPECT_EQ(coefficient(subject, clip, scalar(0.5L, 0.1), 3).e(0, 0), 0) << "the second pass scales nothing";
  EXPECT_FALSE(decided({0, coefficient(subject, clip, scalar(0.001L, 0.01), 2).e(0, 0)})) << "the norm may be 0";
}

}  // namespace
}  // namespace tally::oracle::sam_test
