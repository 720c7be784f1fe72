#include "kernels/training_step/run/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/small_case.hpp"

namespace tally::run_test {
namespace {

/// The traces' taps under both names and bits, in order.
void expect_same(const Trace& a, const Trace& b) {
  ASSERT_FALSE(a.taps().empty());
  ASSERT_EQ(a.taps().size(), b.taps().size());
  for (std::size_t i = 0; i < a.taps().size(); ++i) {
    ASSERT_EQ(a.taps()[i].name, b.taps()[i].name);
    ASSERT_TRUE(a.taps()[i].value == b.taps()[i].value) << a.taps()[i].name.text();
  }
}

const Tensor& tap(const Trace& trace, const std::string& name) {
  const Tensor* found = trace.find(name);
  if (found == nullptr) throw std::runtime_error(name + " was not tapped");
  return *found;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases{small_case(), case_with_everything()};
  Case window = case_with_everything();
  window.model.layers[1].options["statistics"] = std::string("window");
  cases.push_back(window);
  Case half = case_with_everything();
  half.precision.storage = Dtype::fp16;
  fill_tensors(half);
  half.execution.recompute = true;
  cases.push_back(half);
  half.precision.storage = Dtype::bf16;
  fill_tensors(half);
  cases.push_back(half);
  return cases;
}

TEST(Run, IsTestedOnValidCases) {
  for (const Case& c : all_cases()) {
    for (const CaseError& error : validate(c)) ADD_FAILURE() << c.name << ": " << error.path << " " << error.found;
  }
}

TEST(Run, LeavesOnlyTapsThatTheCaseHasInTheirFormatAndShape) {
  for (const Case& c : all_cases()) {
    const Trace trace = run(c);
    EXPECT_TRUE(trace.violations.empty()) << trace.violations.front();
    EXPECT_FALSE(trace.taps().empty());
    for (const Tap& each : trace.taps()) {
      const auto layout = layout_of(c, each.name);
      ASSERT_TRUE(layout) << each.name.text();
      EXPECT_EQ(each.value.dtype, layout->dtype) << each.name.text();
      EXPECT_EQ(each.value.shape, layout->shape) << each.name.text();
    }
  }
}

TEST(Run, TapsEveryStageOfAWindowWithEverything) {
  const Trace trace = run(case_with_everything());
  std::set<std::string> stages;
  for (const Tap& each : trace.taps()) stages.insert(each.name.stage);
  EXPECT_EQ(stages, (std::set<std::string>{"count", "cast", "forward", "running_stats", "loss", "backward",
                                           "accumulate", "overflow_check", "unscale", "norm", "clip", "decay",
                                           "optimizer", "scaler", "schedule"}));
  for (const char* name : {"w0/cast/in.fc1.weight",
                           "w0/m1/forward/in.bn.x",
                           "w0/m0/forward/bn.rstd",
                           "w0/m0/forward/in.drop.mask",
                           "w0/m0/forward/in.frozen.running_var",
                           "w0/m0/forward/ln.mean",
                           "w0/m0/running_stats/in.bn.mean",
                           "w1/m1/running_stats/bn.running_var",
                           "w0/m0/loss/in.factor",
                           "w0/m0/backward/in.d.fc2.y",
                           "w0/m0/backward/d.ln.weight",
                           "w0/m0/accumulate/in.buffer.fc1.bias",
                           "w0/overflow_check/found",
                           "w0/unscale/in.inverse_scale",
                           "w0/norm/norm",
                           "w0/clip/coefficient",
                           "w0/decay/fc1.weight",
                           "w0/optimizer/in.exp_avg.fc1.weight",
                           "w1/scaler/scale",
                           "w1/schedule/step"}) {
    EXPECT_NE(trace.find(name), nullptr) << name;
  }
  EXPECT_EQ(trace.find("w0/m0/backward/d.fc1.x"), nullptr);
}

TEST(Run, HandsEveryTensorOnBitForBit) {
  const Trace trace = run(case_with_everything());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"w0/m0/forward/fc1.y", "w0/m0/forward/in.bn.x"},
           {"w0/m0/forward/fc2.y", "w0/m0/loss/in.y"},
           {"w0/m0/loss/d.y", "w0/m0/backward/in.d.fc2.y"},
           {"w0/m0/backward/d.fc1.weight", "w0/m0/accumulate/in.d.fc1.weight"},
           {"w0/m0/accumulate/buffer.fc1.weight", "w0/m1/accumulate/in.buffer.fc1.weight"},
           {"w0/m1/accumulate/buffer.fc1.weight", "w0/unscale/in.buffer.fc1.weight"},
           {"w0/decay/fc1.weight", "w0/optimizer/in.fc1.weight"},
           {"w0/optimizer/fc1.weight", "w1/cast/in.fc1.weight"},
           {"w0/optimizer/exp_avg.fc1.weight", "w1/optimizer/in.exp_avg.fc1.weight"},
           {"w0/m1/running_stats/bn.running_mean", "w1/m0/running_stats/in.bn.running_mean"}}) {
    EXPECT_TRUE(tap(trace, from) == tap(trace, to)) << from << " and " << to;
  }
}

TEST(Run, RepeatsBitForBit) {
  for (const Case& c : all_cases()) expect_same(run(c), run(c));
}

TEST(Run, GivesTheSameBitsWhateverTheScheduleOfThreads) {
  for (const Case& c : all_cases()) expect_same(run(c), run(c, {.schedule_seed = 5}));
}

TEST(Run, AddsProductsInAnotherOrderWhenOneIsDrawn) {
  Case c = small_case();
  c.model.input = 40;
  fill_tensors(c);
  Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, 1.0 / static_cast<double>(i + 3));
  const Trace in_order = run(c), drawn = run(c, {.order_seed = 3});
  EXPECT_FALSE(tap(in_order, "w0/m0/forward/fc1.y") == tap(drawn, "w0/m0/forward/fc1.y"));
}

TEST(Run, DrawsOneOrderForEachShapeWhereTheCaseNamesOne) {
  Case c = small_case();
  c.model.input = 40;
  c.windows = {{2, 2}};
  fill_tensors(c);
  Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, 1.0 / static_cast<double>(i % 40 + 3));  // all rows alike
  const Trace in_order = run(c);
  int other_bits = 0;
  for (c.execution.order = 1; c.execution.order <= 8; ++c.execution.order) {
    const Trace drawn = run(c);
    other_bits += tap(in_order, "w0/m0/forward/fc1.y") != tap(drawn, "w0/m0/forward/fc1.y");
    EXPECT_TRUE(tap(drawn, "w0/m0/forward/fc1.y") == tap(drawn, "w0/m1/forward/fc1.y"));
  }
  EXPECT_GT(other_bits, 0);
}

TEST(Run, DrawsOtherOrdersForOtherShapes) {
  Case c = small_case();
  c.model.input = 40;
  c.windows = {{3, 1}};
  fill_tensors(c);
  Tensor& x = c.tensors.at("x");
  for (std::size_t i = 0; i < x.elements(); ++i) x.set(i, 1.0 / static_cast<double>(i % 40 + 3));  // all rows alike
  int differing = 0;
  for (c.execution.order = 1; c.execution.order <= 8; ++c.execution.order) {
    const Trace drawn = run(c);
    differing += tap(drawn, "w0/m0/forward/fc1.y").bits(0) != tap(drawn, "w0/m1/forward/fc1.y").bits(0);
  }
  EXPECT_GT(differing, 0);
}

TEST(Run, RunsTheScheduleOfTheCase) {
  Case c = small_case();
  c.execution.schedule = 5;
  expect_same(run(c), run(c, {.schedule_seed = 5}));
}

TEST(Run, RefusesAKernelThatIsNotShipped) {
  for (const auto& [operation, variant] : std::vector<std::pair<std::string, std::string>>{
           {"norm", "absent"}, {"norms", "two_stage"}, {"accumulate", "~lost_atomic_add"}}) {
    Case c = small_case();
    c.execution.kernels = {{operation, variant}};
    EXPECT_THROW(run(c), NotSupported) << operation << ' ' << variant;
  }
}

TEST(Run, WithoutABufferEndsInTheSameBitsAsWithOneOfASingleMicroBatch) {
  for (Case c : all_cases()) {
    c.windows = {{5}, {6}};
    if (c.name == "small") c.windows = {{4}, {4}};
    const Trace buffered = run(c), direct = run(c, {.accumulate = false});
    EXPECT_EQ(direct.find("w0/m0/accumulate/buffer.fc1.weight"), nullptr);
    std::size_t compared = 0;
    for (const Tap& each : direct.taps()) {
      if (each.name.tensor.starts_with("in.d.") && buffered.find(each.name.text()) == nullptr) continue;
      EXPECT_TRUE(each.value == tap(buffered, each.name.text())) << each.name.text();
      ++compared;
    }
    EXPECT_GT(compared, 0u);
  }
}

TEST(Run, WithoutTapsKeepsTheFinalStateOnly) {
  for (const Case& c : all_cases()) {
    const Trace watched = run(c), unwatched = run(c, {.taps = false});
    EXPECT_NE(unwatched.find("w1/optimizer/fc1.weight"), nullptr);
    EXPECT_LT(unwatched.taps().size(), watched.taps().size() / 4);
    for (const Tap& each : unwatched.taps()) {
      EXPECT_TRUE(each.value == tap(watched, each.name.text())) << each.name.text();
    }
  }
}

TEST(Run, RecomputesActivationsWithoutMovingRunningValuesTwice) {
  Case c = case_with_everything();
  const Trace kept = run(c);
  c.execution.recompute = true;
  expect_same(kept, run(c));
}

TEST(Run, RefusesWhatItCannotDoInOneSentence) {
  try {
    run(small_case(), {.accumulate = false});
    FAIL() << "expected NotSupported";
  } catch (const NotSupported& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "a window without an accumulation buffer is 2 micro-batches; the built-in training step takes one");
  }
}

TEST(Run, RunsAReplacedStageInPlaceOfTheShippedOne) {
  Stages stages = shipped_stages();
  stages.factor = [](tally::Run& run) {
    stage::fix_factor(run);
    run.factor *= 2;
  };
  const Trace shipped = run(small_case()), faulty = run(small_case(), {.stages = &stages});
  EXPECT_EQ(tap(faulty, "w0/m0/loss/in.factor").value(0), 2 * tap(shipped, "w0/m0/loss/in.factor").value(0));
}

TEST(Run, ReportsAnInputThatChanged) {
  Stages stages = shipped_stages();
  stages.end_window = [](tally::Run& run) { run.x.zero(); };
  const Trace trace = run(small_case(), {.stages = &stages});
  ASSERT_EQ(trace.violations.size(), 1u);
  EXPECT_EQ(trace.violations[0], "input 'x' changed during the run; expected its bits to stay");
}

}  // namespace
}  // namespace tally::run_test
