// The built-in step on models whose layers name what they read: what it taps where outputs are added and where their
// gradients are, worked on paper in tests/kernels/residual_case.hpp.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/trace/trace_layout.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/io.hpp"
#include "tests/kernels/residual_case.hpp"

namespace tally::residual_run_test {
namespace {

/// Where a tap stands among all, and its only element.
struct Told {
  std::size_t place;
  double value;
};

Told tap(const Trace& trace, const std::string& name) {
  for (std::size_t i = 0; i < trace.taps().size(); ++i)
    if (trace.taps()[i].name.text() == "w0/m0/" + name) return {i, trace.taps()[i].value.value(0)};
  throw std::runtime_error(name + " was not tapped");
}

/// The taps of a stage, without window and micro-batch, and their values.
std::map<std::string, double> taps_of(const Trace& trace, const std::string& stage) {
  std::map<std::string, double> found;
  for (const Tap& each : trace.taps())
    if (each.name.stage == stage) found[each.name.tensor] = each.value.value(0);
  return found;
}

using Taps = std::map<std::string, double>;

/// Two blocks, the second of which reads one output twice, and a layer in the middle that reads the model's input. Wider
/// than a warp, with tails.
Case two_blocks(Dtype storage = Dtype::fp32) {
  Case c = small_case();
  c.name = "two blocks";
  c.precision.storage = storage;
  c.model.layers = {layer_of("linear", "fc1", {{"out", std::int64_t{37}}}),
                    layer_of("relu", "act"),
                    layer_of("linear", "fc2", {{"out", std::int64_t{37}}}),
                    reading({"fc1", "fc2"}, layer_of("add", "first")),
                    layer_of("layer_norm", "ln"),
                    reading({"input"}, layer_of("linear", "short", {{"out", std::int64_t{37}}})),
                    reading({"ln", "first", "short", "ln"}, layer_of("add", "second")),
                    layer_of("linear", "fc3", {{"out", std::int64_t{3}}})};
  c.windows = {{33, 5}, {40}};
  c.tensors.clear();
  fill_tensors(c);
  return c;
}

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(ResidualRun, IsTestedOnValidCases) {
  std::vector<Case> cases{residual_case(), doubled_case()};
  for (const Dtype storage : formats) {
    cases.push_back(two_blocks(storage));
    cases.push_back(half_ulps_case(storage, half_an_ulp(storage)));
  }
  for (const Case& c : cases)
    for (const CaseError& error : validate(c)) ADD_FAILURE() << c.name << ": " << error.path << " " << error.found;
}

/// d.sum = 10: a gets it from sum, and 5 · 10 from b.
TEST(ResidualRun, AddsWhatTheReadersOfAnOutputGive) {
  const Trace trace = run(residual_case());

  EXPECT_TRUE(trace.violations.empty());
  EXPECT_EQ(tap(trace, "forward/in.sum.x0").value, 6);
  EXPECT_EQ(tap(trace, "forward/in.sum.x1").value, 30);
  EXPECT_EQ(tap(trace, "forward/sum.y").value, 36);
  EXPECT_EQ(taps_of(trace, "fork"), (Taps{{"in.d.sum.x0", 10}, {"in.d.b.x", 50}, {"d.a.y", 60}}));
  EXPECT_EQ(tap(trace, "backward/in.d.a.y").value, 60);
  EXPECT_EQ(tap(trace, "backward/d.a.weight").value, 120);
}

/// b reads the gradient of sum where the loss left it; the sum itself computes nothing in backward. a is the first.
TEST(ResidualRun, HandsTheGradientOfASumOn) {
  const Trace trace = run(residual_case());

  EXPECT_EQ(taps_of(trace, "backward"), (Taps{{"in.d.b.y", 10},
                                              {"in.b.x", 6},
                                              {"in.b.weight", 5},
                                              {"d.b.x", 50},
                                              {"d.b.weight", 60},
                                              {"in.d.a.y", 60},
                                              {"in.a.x", 2},
                                              {"in.a.weight", 3},
                                              {"d.a.weight", 120}}));
}

TEST(ResidualRun, ForksWhenAllReadersHaveGivenTheirs) {
  const Trace trace = run(residual_case());

  EXPECT_LT(tap(trace, "backward/d.b.x").place, tap(trace, "fork/in.d.sum.x0").place);
  EXPECT_LT(tap(trace, "fork/in.d.sum.x0").place, tap(trace, "fork/in.d.b.x").place);
  EXPECT_LT(tap(trace, "fork/in.d.b.x").place, tap(trace, "fork/d.a.y").place);
  EXPECT_LT(tap(trace, "fork/d.a.y").place, tap(trace, "backward/in.d.a.y").place);
}

TEST(ResidualRun, CountsAnOutputTwiceThatIsNamedTwice) {
  const Trace trace = run(doubled_case());

  EXPECT_EQ(tap(trace, "forward/sum.y").value, 12);
  EXPECT_EQ(taps_of(trace, "fork"), (Taps{{"in.d.sum.x0", 10}, {"in.d.sum.x1", 10}, {"d.a.y", 20}}));
  EXPECT_LT(tap(trace, "fork/in.d.sum.x1").place, tap(trace, "fork/in.d.sum.x0").place);
  EXPECT_EQ(tap(trace, "backward/d.a.weight").value, 40);
}

/// Forward b + c + 1 in the order of the list, which is more than 1. Backward 1 + h + h from the last reader on, each sum
/// rounded to the storage format: 1, where h + h + 1 would be more, and so would 1 + h + h with one rounding at its end.
TEST(ResidualRun, AddsInOrderAndStoresEverySum) {
  for (const Dtype storage : formats) {
    const double h = half_an_ulp(storage);
    const Trace trace = run(half_ulps_case(storage, h));

    EXPECT_EQ(tap(trace, "forward/sum.y").value, 1 + 2 * h) << name_of(storage);
    EXPECT_EQ(taps_of(trace, "fork"), (Taps{{"in.d.sum.x2", 1}, {"in.d.c.x", h}, {"in.d.b.x", h}, {"d.a.y", 1}}))
        << name_of(storage);
  }
}

/// first is read by ln and by second, ln twice by second; the model's input, read twice as well, has no gradient.
TEST(ResidualRun, ForksWhatSeveralReadAndNothingElse) {
  const Trace trace = run(two_blocks());
  std::set<std::string> forked;
  for (const auto& [tensor, value] : taps_of(trace, "fork")) forked.insert(tensor);

  EXPECT_EQ(forked, (std::set<std::string>{"in.d.second.x3", "in.d.second.x0", "d.ln.y",  // ln
                                           "in.d.second.x1", "in.d.ln.x", "d.first.y",    // first
                                           "in.d.act.x", "in.d.first.x0", "d.fc1.y"}));   // fc1
  EXPECT_EQ(trace.find("w0/m0/backward/d.short.x"), nullptr);
  EXPECT_EQ(trace.find("w0/m0/backward/d.fc1.x"), nullptr);
}

/// Each layer reads what it names, and takes the gradient from where its readers left it.
TEST(ResidualRun, HandsEveryTensorOnBitForBit) {
  const Trace trace = run(two_blocks());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"forward/fc1.y", "forward/in.act.x"},
                                                        {"forward/fc1.y", "forward/in.first.x0"},
                                                        {"forward/fc2.y", "forward/in.first.x1"},
                                                        {"forward/in.fc1.x", "forward/in.short.x"},
                                                        {"forward/ln.y", "forward/in.second.x0"},
                                                        {"forward/ln.y", "forward/in.second.x3"},
                                                        {"forward/short.y", "forward/in.second.x2"},
                                                        {"backward/d.fc3.x", "backward/in.d.short.y"},
                                                        {"backward/d.fc3.x", "fork/in.d.second.x1"},
                                                        {"fork/d.ln.y", "backward/in.d.ln.y"},
                                                        {"backward/d.ln.x", "fork/in.d.ln.x"},
                                                        {"fork/d.first.y", "backward/in.d.fc2.y"},
                                                        {"fork/d.first.y", "fork/in.d.first.x0"},
                                                        {"backward/d.act.x", "fork/in.d.act.x"},
                                                        {"fork/d.fc1.y", "backward/in.d.fc1.y"}}) {
    const Tensor *left = trace.find("w0/m1/" + from), *read = trace.find("w0/m1/" + to);
    ASSERT_NE(left, nullptr) << from;
    ASSERT_NE(read, nullptr) << to;
    EXPECT_TRUE(*left == *read) << from << " and " << to;
  }
}

TEST(ResidualRun, LeavesOnlyTapsThatTheCaseHasInTheirFormatAndShape) {
  for (const Dtype storage : formats) {
    const Case c = two_blocks(storage);
    const Trace trace = run(c);
    EXPECT_FALSE(trace.taps().empty());
    for (const Tap& each : trace.taps()) {
      const auto layout = layout_of(c, each.name);
      ASSERT_TRUE(layout) << each.name.text();
      EXPECT_EQ(each.value.dtype, layout->dtype) << each.name.text();
      EXPECT_EQ(each.value.shape, layout->shape) << each.name.text();
    }
  }
}

/// No layer of the paper's case has a tap that another model would have.
TEST(ResidualRun, KnowsNoOtherTaps) {
  const Case c = residual_case();
  for (const char* name :
       {"backward/in.d.sum.y", "backward/d.sum.x0", "backward/in.sum.x0", "fork/d.b.y", "fork/d.sum.y", "fork/in.d.a.x",
        "fork/in.d.sum.x1", "fork/in.d.sum.x", "forward/in.sum.x", "forward/in.sum.x2", "forward/in.b.x0"})
    EXPECT_FALSE(layout_of(c, tap_name_of("w0/m0/" + std::string(name)))) << name;
}

void expect_same(const Trace& a, const Trace& b) {
  ASSERT_EQ(a.taps().size(), b.taps().size());
  for (std::size_t i = 0; i < a.taps().size(); ++i) {
    ASSERT_EQ(a.taps()[i].name, b.taps()[i].name);
    ASSERT_TRUE(a.taps()[i].value == b.taps()[i].value) << a.taps()[i].name.text();
  }
}

TEST(ResidualRun, GivesTheSameBitsRecomputedAndInAnySchedule) {
  for (const Dtype storage : formats) {
    Case c = two_blocks(storage);
    const Trace kept = run(c);
    expect_same(kept, run(c, {.schedule_seed = 5}));
    c.execution.recompute = true;
    expect_same(kept, run(c));
  }
}

TEST(ResidualRun, FindsNothingWhereAccessesAreChecked) {
  if (!built_with_checks()) GTEST_SKIP() << "built without the checked executor";
  for (const Dtype storage : formats) {
    const Case c = two_blocks(storage);
    const Trace checked = run(c, {.executor = ExecutorKind::checked});
    EXPECT_TRUE(checked.violations.empty()) << checked.violations.front();
    expect_same(run(c), checked);
  }
}

}  // namespace
}  // namespace tally::residual_run_test
