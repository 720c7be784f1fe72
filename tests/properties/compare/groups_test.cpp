// Traces whose inner taps are missing: what the stages did together is judged, and nothing is called judged that is
// not.
#include "properties/judge/groups.hpp"

#include "properties/faults/fault.hpp"
#include "properties/generators/random_plan.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::groups_test {
namespace {

/// A trace of the taps that `keeps` wants.
template <class F>
Trace only(const Trace& trace, F&& keeps) {
  Trace some;
  some.claims = trace.claims;
  some.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    if (keeps(tap.name)) some.add(tap.name, tap.value);
  }
  return some;
}

bool is_input(const TapName& name) { return name.tensor.starts_with("in."); }
bool is_count(const TapName& name) { return name.stage == "schedule" || name.stage == "scaler"; }

/// What a recorder of a training loop sees, from much to little.
using Keeps = bool (*)(const TapName&);
const std::map<std::string, Keeps> captures{
    {"outputs", [](const TapName& n) { return !is_input(n); }},
    {"casts, gradients, buffers, steps",
     [](const TapName& n) {
       return !is_input(n) && (n.stage == "cast" || n.stage == "accumulate" || n.stage == "optimizer" || is_count(n) ||
                               n.stage == "running_stats" || (n.stage == "backward" && !n.tensor.ends_with(".x")));
     }},
    {"casts, buffers, steps",
     [](const TapName& n) {
       return !is_input(n) && (n.stage == "cast" || n.stage == "accumulate" || n.stage == "optimizer" || is_count(n) ||
                               n.stage == "running_stats");
     }},
    {"steps", [](const TapName& n) {
       return !is_input(n) && (n.stage == "optimizer" || is_count(n) || n.stage == "running_stats");
     }}};

void expect_judged(const Case& c, const Trace& trace, const std::string& what) {
  const GroupedChecks found = hard_lenses(c, trace, Grouping::inferred);
  EXPECT_FALSE(found.checks.empty()) << what;
  EXPECT_EQ(first_failure(found.checks), nullptr) << what << " " << told(first_failure(found.checks));
  EXPECT_EQ(count(found.checks, Status::not_run), 0u) << what << " " << missing(found.checks);
}

std::vector<TensorCheck> of_lens(const std::vector<TensorCheck>& checks, const std::string& lens) {
  std::vector<TensorCheck> some;
  for (const TensorCheck& check : checks) {
    if (check.lens == lens) some.push_back(check);
  }
  return some;
}

const Dtype formats[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16};

TEST(Groups, PassCapturesOfCleanRunsInEveryOrder) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 12; ++seed) {
      const Case c = normal_case(seed, storage);
      RunOptions options;
      options.order_seed = seed - 1;
      const Trace whole = run(c, options);
      for (const auto& [what, keeps] : captures) expect_judged(c, only(whole, keeps), what);
    }
  }
}

TEST(Groups, PassCapturesOfEveryLayerAndStage) {
  for (const Dtype storage : formats) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const Case c = normal_everything(seed, storage);
      const Trace whole = run(c);
      for (const auto& [what, keeps] : captures) {
        if (what != "steps") expect_judged(c, only(whole, keeps), what);  // it shows no skip, and may overflow
      }
      const GroupedChecks steps = hard_lenses(c, only(whole, captures.at("steps")), Grouping::inferred);
      EXPECT_EQ(first_failure(steps.checks), nullptr) << told(first_failure(steps.checks));
    }
  }
}

TEST(Groups, PassCapturesOfEveryRecipe) {
  for (const auto& [name, c] : recipes()) {
    const Trace whole = run(c);
    for (const auto& [what, keeps] : captures) expect_judged(c, only(whole, keeps), name + ": " + what);
  }
}

/// Such windows count no step; only the next step shows that.
TEST(Groups, ShowTheCountOfWindowsThatWereSkippedInARow) {
  for (const std::size_t overflowing : {1, 2, 3}) {
    Case c = normal_case(5);
    c.windows.assign(4, {2, 3});
    c.recipe.optimizer = choice_of("optimizer", "adam");
    c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"1024"}}});
    c.tensors.clear();
    fill_tensors(c);
    draw_normal(c, 5);
    Tensor& x = c.tensors.at("x");
    for (std::size_t i = 0; i < overflowing * x.elements() / 4; ++i) x.set(i, std::copysign(0x1p127, x.value(i)));
    const Trace whole = run(c);
    ASSERT_EQ(whole.find("w" + std::to_string(overflowing - 1) + "/overflow_check/found")->integer(0), 1);
    const Trace uncounted =
        only(whole, [](const TapName& name) { return !is_input(name) && name.stage != "schedule"; });

    expect_judged(c, uncounted, std::to_string(overflowing) + " in a row");
  }
}

TEST(Groups, PassCapturesOfDrawnCases) {
  std::size_t judged = 0;
  for (const Dtype storage : formats) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const Case c = case_of(random_plan(storage)(rc::Random(seed), rc::kNominalSize).value());
      Trace whole;
      try {
        whole = run(c);
      } catch (const NotSupported&) {
        continue;
      }
      for (const auto& [what, keeps] : captures) {
        const GroupedChecks found = hard_lenses(c, only(whole, keeps), Grouping::inferred);
        EXPECT_EQ(first_failure(found.checks), nullptr) << seed << " " << what << told(first_failure(found.checks));
        judged += of_lens(found.checks, "group").size();
      }
    }
  }
  EXPECT_GT(judged, 300u);
}

TEST(Groups, PassAWindowThatOverflowsWhateverIsTapped) {
  Case c = normal_case(1, Dtype::fp16);
  c.recipe.loss_scale = choice_of("loss_scale", "dynamic", {{"initial", Decimal{"16777216"}}});
  const Trace whole = run(c);
  ASSERT_EQ(whole.find("w0/overflow_check/found")->integer(0), 1);
  expect_judged(c, only(whole, captures.at("outputs")), "outputs");
  expect_judged(c, only(whole, captures.at("casts, buffers, steps")), "casts, buffers, steps");
}

/// Everything between the stages of a fused step: the group's inputs and outputs stay.
Trace fused_step(const Trace& whole) {
  Trace fused = only(whole, [](const TapName& n) {
    const bool step = n.stage == "unscale" || n.stage == "norm" || n.stage == "clip" || n.stage == "decay";
    if (n.stage == "optimizer") return !n.tensor.starts_with("in.d.");
    return !step || (n.stage == "unscale" && is_input(n));
  });
  fused.groups = {{"unscale", "optimizer"}};
  return fused;
}

TEST(Groups, JudgeADeclaredFusedStepByInformativeBounds) {
  for (const auto& [name, c] : recipes()) {
    const GroupedChecks found = hard_lenses(c, fused_step(run(c)), Grouping::declared);
    EXPECT_EQ(first_failure(found.checks), nullptr) << name << " " << told(first_failure(found.checks));
    EXPECT_EQ(count(found.checks, Status::not_run), 0u) << name << " " << missing(found.checks);
    ASSERT_EQ(found.groups, std::vector<std::string>{"unscale..optimizer"}) << name;
    const auto grouped = of_lens(found.checks, "group");
    EXPECT_GE(grouped.size(), c.windows.size() * parameters_of(c.model).size()) << name;
    for (const TensorCheck& check : grouped) {
      EXPECT_EQ(check.status, Status::pass) << name << " " << told(&check);
      EXPECT_EQ(check.stage, "unscale..optimizer");
    }
  }
}

TEST(Groups, LeaveWhatNoGroupDeclaresNotRun) {
  const Case c = normal_case(3);
  Trace fused = fused_step(run(c));
  fused.groups = {{"norm", "clip"}};
  EXPECT_GT(count(hard_lenses(c, fused, Grouping::declared).checks, Status::not_run), 0u);
  fused.groups.clear();
  EXPECT_GT(count(hard_lenses(c, fused, Grouping::declared).checks, Status::not_run), 0u);
}

TEST(Groups, DemandTheInputsOfADeclaredGroup) {
  const Case c = normal_case(3);
  const Trace fused = fused_step(run(c));
  Trace without = only(fused, [](const TapName& n) { return !n.tensor.starts_with("in.buffer."); });
  without.groups = fused.groups;
  const auto checks = hard_lenses(c, without, Grouping::declared).checks;
  EXPECT_NE(missing(checks).find("in.buffer."), std::string::npos) << missing(checks);
}

TEST(Groups, LeaveAStageWhoseResultsReachNoTapNotRun) {
  const Case c = normal_case(3);
  const Trace buffers = only(run(c), [](const TapName& n) { return n.stage == "accumulate" || n.stage == "schedule"; });
  const auto checks = hard_lenses(c, buffers, Grouping::inferred).checks;
  EXPECT_EQ(first_failure(checks), nullptr) << told(first_failure(checks));
  const bool step = std::any_of(checks.begin(), checks.end(), [](const TensorCheck& check) {
    return check.status == Status::not_run && check.stage == "optimizer";
  });
  EXPECT_TRUE(step);
}

TEST(Groups, NameTheGroupThatHoldsAFault) {
  for (const auto& [name, c] : recipes()) {
    Case other = c;  // the subject scales its gradient by another rate: the step is wrong, and nothing before it
    other.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0.26"}}});
    Trace fused = fused_step(run(other));
    const GroupedChecks found = hard_lenses(c, fused, Grouping::declared);
    const auto grouped = of_lens(found.checks, "group");
    const TensorCheck* failure = first_failure(grouped);
    ASSERT_NE(failure, nullptr) << name;
    EXPECT_EQ(failure->stage, "unscale..optimizer") << name;
  }
}

/// Gradients of every micro-batch, and the window's last buffers alone.
Trace last_buffers(const Case& c, const Trace& whole) {
  return only(whole, [&](const TapName& n) {
    const auto last = static_cast<int>(c.windows[static_cast<std::size_t>(n.window)].size()) - 1;
    return !is_input(n) && (n.stage != "accumulate" || n.micro_batch == last);
  });
}

/// The first window's last buffer of fc1.weight as another order of micro-batches leaves it.
Tensor added_from_the_last(const Case& c, const Trace& whole) {
  const auto last = static_cast<int>(c.windows[0].size()) - 1;
  Tensor buffer = *whole.find(TapName{0, last, "accumulate", "buffer.fc1.weight"}.text());
  for (std::size_t i = 0; i < buffer.elements(); ++i) {
    float sum = 0;
    for (int k = last; k >= 0; --k) {
      sum += static_cast<float>(whole.find(TapName{0, k, "backward", "d.fc1.weight"}.text())->value(i));
    }
    buffer.set(i, static_cast<double>(sum));
  }
  return buffer;
}

TEST(Groups, CallMicroBatchesAddedInAnotherOrderOrder) {
  const Case c = mlp(9);
  const Trace whole = run(c);
  expect_judged(c, last_buffers(c, whole), "last buffers");
  const std::string changed = "w0/m7/accumulate/buffer.fc1.weight";
  Trace other;
  other.claims = whole.claims;
  const Trace kept = last_buffers(c, whole);
  for (const Tap& tap : kept.taps()) {
    other.add(tap.name, tap.name.text() == changed ? added_from_the_last(c, whole) : tap.value);
  }
  const auto grouped = of_lens(hard_lenses(c, other, Grouping::inferred).checks, "group");
  const TensorCheck* failure = first_failure(grouped);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->tap, changed);
  EXPECT_EQ(failure->failure, FailureClass::order);
  EXPECT_EQ(failure->stage, "accumulate");
}

struct Seeded {
  const char *fault, *recipe, *group;  // the group that must be named
};

/// The faulty kernels' own taps between stages are thrown away before anything is judged.
void expect_named(const Seeded& seeded, const Trace& trace, const Case& c, Grouping grouping) {
  const GroupedChecks found = hard_lenses(c, trace, grouping);
  const auto grouped = of_lens(found.checks, "group");
  const TensorCheck* failure = first_failure(grouped);
  ASSERT_NE(failure, nullptr) << seeded.fault;
  EXPECT_EQ(failure->stage, seeded.group) << seeded.fault << " " << told(failure);
}

Trace run_with(const char* fault, const Case& c) {
  RunOptions options;
  options.stages = &find_fault(fault)->stages();
  return run(c, options);
}

TEST(Groups, NameTheFusedStepOfASeededFault) {
  const Seeded all[] = {{"bias-correction-stuck", "adam", "unscale..optimizer"},
                        {"momentum-reset-each-step", "momentum", "unscale..optimizer"},
                        {"double-unscale", "static scale", "unscale..optimizer"},
                        {"clip-before-unscale", "clip by norm 2", "unscale..optimizer"}};
  for (const Seeded& seeded : all) {
    Case c = recipes().at(seeded.recipe);
    if (std::string(seeded.fault) == "clip-before-unscale") {
      c.recipe.loss_scale = choice_of("loss_scale", "static", {{"scale", Decimal{"1024"}}});
    }
    expect_named(seeded, fused_step(run_with(seeded.fault, c)), c, Grouping::declared);
  }
}

TEST(Groups, NameTheStagesBehindABufferThatIsWrong) {
  const Seeded all[] = {{"tail-row-dropped", "sum", "forward..accumulate"},
                        {"lost-atomic-add", "sum", "forward..accumulate"},
                        {"overwrite-not-add", "sum", "forward..accumulate"}};
  for (const Seeded& seeded : all) {
    const Case c = recipes().at(seeded.recipe);
    const Trace trace = only(run_with(seeded.fault, c), captures.at("casts, buffers, steps"));
    expect_named(seeded, trace, c, Grouping::inferred);
  }
}

}  // namespace
}  // namespace tally::groups_test
