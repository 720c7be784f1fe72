// Opaque models: what a recorder has of any network is judged, from the loss's factor to the schedule.
#include <cmath>
#include <random>

#include "oracle/case/contract.hpp"
#include "oracle/case/io.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/generators/random_plan.hpp"
#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/opaque_case.hpp"

namespace tally::opaque_test {
namespace {

struct Opaque {
  Case c;
  Trace trace;
};

Opaque opaque_run(const Case& known) { return {opaque_of(known), opaque_of(known, run(known))}; }

void expect_pass(const Opaque& run, const std::string& what) {
  const GroupedChecks found = hard_lenses(run.c, run.trace, Grouping::inferred);
  EXPECT_EQ(first_failure(found.checks), nullptr) << what << " " << told(first_failure(found.checks));
  EXPECT_EQ(count(found.checks, Status::not_run), 0u) << what << " " << missing(found.checks);
  EXPECT_GT(count(found.checks, Status::pass), 0u) << what;
}

TEST(OpaqueModel, PassesWhereItsRunWasRightUnderEveryRecipe) {
  for (const auto& [name, known] : recipes()) {
    const Opaque run = opaque_run(known);
    EXPECT_TRUE(read_case(write_case(run.c)) == run.c) << name;
    expect_pass(run, name);
  }
}

TEST(OpaqueModel, PassesInSixteenBitsWithADynamicScale) {
  for (const Dtype storage : {Dtype::fp16, Dtype::bf16}) expect_pass(opaque_run(normal_everything(3, storage)), "all");
}

/// A trace of the taps that `keeps` wants.
template <class F>
Trace only(const Trace& trace, F&& keeps) {
  Trace some;
  some.claims = trace.claims;
  for (const Tap& tap : trace.taps())
    if (keeps(tap.name)) some.add(tap.name, tap.value);
  return some;
}

TEST(OpaqueModel, PassesWithFewTaps) {
  for (const auto& [name, known] : recipes()) {
    const Opaque all = opaque_run(known);
    for (const char* stage : {"backward", "accumulate", "unscale"}) {
      const Trace some = only(all.trace, [&](const TapName& n) {
        return !n.tensor.starts_with("in.") && (n.stage == stage || n.stage == "optimizer" || n.stage == "schedule");
      });
      expect_pass({all.c, some}, name + ", " + stage);
    }
  }
}

TEST(OpaqueModel, LeavesAStageWhoseResultsReachNoTapNotRun) {
  const Opaque all = opaque_run(normal_case(3));
  const Trace buffers =
      only(all.trace, [](const TapName& n) { return n.stage == "accumulate" || n.stage == "schedule"; });
  for (const auto& checks : {hard_lenses(all.c, buffers, Grouping::inferred).checks, local_lens(all.c, buffers)}) {
    EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
    EXPECT_TRUE(std::any_of(checks.begin(), checks.end(), [](const TensorCheck& check) {
      return check.status == Status::not_run && check.stage == "optimizer";
    }));
  }
}

/// Every output behind the model's gradients, moved: found, at its stage or in the group that it is judged in.
TEST(OpaqueModel, FailsWhereverATensorIsWrong) {
  const Opaque right = opaque_run(normal_everything(3));
  int tried = 0;
  for (const Tap& tap : right.trace.taps()) {
    const bool given = tap.name.stage == "backward" || tap.name.tensor.starts_with("in.");
    const Dtype dtype = tap.value.dtype;
    if (given || dtype == Dtype::u8 || tap.value.elements() == 0) continue;
    Opaque wrong{right.c, only(right.trace, [&](const TapName& n) { return !(n == tap.name); })};
    Tensor moved = tap.value;
    moved.set(0, dtype == Dtype::i64 ? moved.value(0) + 1 : moved.value(0) * 1.5 + 1);
    wrong.trace.add(tap.name, moved);
    const GroupedChecks found = hard_lenses(wrong.c, wrong.trace, Grouping::inferred);
    const TensorCheck* failure = first_failure(found.checks);
    ASSERT_NE(failure, nullptr) << tap.name.text();
    ++tried;
  }
  EXPECT_GT(tried, 50);
}

/// The most famous bug, in the factor of a loss that the capture has.
TEST(OpaqueModel, ShowsAMeanOfMeans) {
  Case known = normal_case(5);
  known.windows = {{3, 1}, {2, 2}};
  known.tensors.clear();
  fill_tensors(known);
  draw_normal(known, 5);
  Case means = known;
  means.normalisation = Normalisation::mean_of_means;
  const JudgedCapture judged = judged_capture(opaque_of(known), opaque_of(means, run(means)));
  const TensorCheck* failure = first_failure(judged.checks);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, "w0/m0/loss/in.factor");
  ASSERT_FALSE(judged.suspects.empty());
  EXPECT_EQ(judged.suspects.front().name, "mean-of-means");
}

/// A mean squared error as PyTorch multiplies it: by fl(2 / (n F)), then by fl(1 / K). There is no factor c.
Tensor mean_squared_gradient(const Tensor& y, const Tensor& target, std::int64_t micro_batches) {
  Tensor gradient = y;
  const auto inner = static_cast<float>(2.0 / static_cast<double>(y.elements()));
  const float outer = 1.0F / static_cast<float>(micro_batches);
  for (std::size_t i = 0; i < y.elements(); ++i) {
    const auto off = static_cast<float>(y.value(i)) - static_cast<float>(target.value(i));
    gradient.set(i, inner * off * outer);
  }
  return gradient;
}

TEST(OpaqueModel, TakesAFactorThatTheLossFoldsIntoItsOwn) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Case known = mlp(seed);
    known.windows.assign(1, std::vector<std::int64_t>(6, 6));
    known.tensors.clear();
    fill_tensors(known);
    draw_normal(known, seed);
    const Opaque all = opaque_run(known);
    Opaque folded{all.c, {}};
    folded.trace.claims = all.trace.claims;
    folded.trace.claims.factor = "fp32_twice";
    for (const Tap& tap : all.trace.taps()) {
      if (tap.name.tensor == "in.factor") continue;
      const bool gradient = tap.name.tensor == "d.y" && tap.name.stage == "loss";
      const auto read = [&](const char* tensor) {
        return *all.trace.find(TapView{0, tap.name.micro_batch, "loss", tensor});
      };
      folded.trace.add(tap.name, gradient ? mean_squared_gradient(read("in.y"), read("in.target"), 6) : tap.value);
    }
    expect_pass(folded, "seed " + std::to_string(seed));
  }
}

/// The inner product of such a loss is rounded where it is subnormal, and that error is divided by K alone.
TEST(OpaqueModel, TakesAFoldedFactorAmongSubnormalNumbers) {
  Case known = mlp(1);
  known.windows.assign(1, std::vector<std::int64_t>(6, 6));
  known.tensors.clear();
  fill_tensors(known);
  draw_normal(known, 1);
  const Opaque all = opaque_run(known);
  Opaque tiny{all.c, {}};
  tiny.trace.claims = all.trace.claims;
  tiny.trace.claims.factor = "fp32_twice";
  Tensor& target = tiny.c.tensors.at("target");
  for (std::size_t i = 0; i < target.elements(); ++i) target.set(i, 0);
  std::mt19937 draw(1);
  std::map<int, Tensor> outputs;
  for (const Tap& tap : all.trace.taps()) {
    if (tap.name.tensor == "in.factor") continue;
    Tensor value = tap.value;
    if (tap.name.stage == "loss") {
      const bool gradient = tap.name.tensor == "d.y";
      for (std::size_t i = 0; i < value.elements() && !gradient; ++i)
        value.set(i, tap.name.tensor == "in.y" ? std::ldexp(static_cast<double>(draw() % 4096), -142) : 0);
      if (tap.name.tensor == "in.y") outputs[tap.name.micro_batch] = value;
      if (gradient) {
        const Tensor& y = outputs.at(tap.name.micro_batch);
        value = mean_squared_gradient(y, Tensor(y.dtype, y.shape), 6);
      }
    }
    tiny.trace.add(tap.name, std::move(value));
  }
  const GroupedChecks found = hard_lenses(tiny.c, tiny.trace, Grouping::inferred);
  EXPECT_EQ(first_failure(found.checks), nullptr) << told(first_failure(found.checks));
}

TEST(OpaqueModel, NeedsNoLossAndTakesTensorsOfAnyShape) {
  Opaque run = opaque_run(mlp(3));
  run.c.model.loss = choice_of("loss", "opaque");
  run.c.tensors.erase("target");
  run.trace = only(run.trace, [](const TapName& n) { return n.stage != "loss"; });
  expect_pass(run, "no loss");
  for (const Shapes::mapped_type& shape : {std::vector<std::int64_t>{2, 4, 4, 16}, {512}, {32, 16, 1, 1}}) {
    Opaque folded = run;
    auto shapes = folded.c.model.layers.front().shapes("tensors");
    shapes["fc1.weight"] = shape;
    folded.c.model.layers.front().options["tensors"] = shapes;
    folded.c.tensors.at("model.fc1.weight").shape = shape;
    Trace trace;
    trace.claims = run.trace.claims;
    for (const Tap& tap : run.trace.taps()) {
      Tensor value = tap.value;
      if (tap.name.tensor.ends_with("model.fc1.weight")) value.shape = shape;
      trace.add(tap.name, value);
    }
    folded.trace = std::move(trace);
    expect_pass(folded, std::to_string(shape.size()) + " dimensions");
  }
}

TEST(OpaqueModel, IsNeitherRunNorDifferentiated) {
  EXPECT_THROW(require_stated(opaque_of(normal_case(1))), InvalidCase);
  EXPECT_NO_THROW(require_stated(normal_case(1)));
}

}  // namespace
}  // namespace tally::opaque_test
