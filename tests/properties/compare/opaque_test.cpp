// Opaque models: what a recorder has of any network is judged, from the loss's factor to the schedule.
#include "oracle/case/io.hpp"
#include "oracle/case/kinds.hpp"
#include "properties/compare/groups.hpp"
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/generators/random_plan.hpp"
#include "tests/properties/compare/lens_cases.hpp"
#include "tests/properties/compare/opaque_case.hpp"

namespace tally {
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

TEST(OpaqueModel, passes_where_its_run_was_right_under_every_recipe) {
  for (const auto& [name, known] : recipes()) {
    const Opaque run = opaque_run(known);
    EXPECT_TRUE(read_case(write_case(run.c)) == run.c) << name;
    expect_pass(run, name);
  }
}

TEST(OpaqueModel, passes_in_sixteen_bits_with_a_dynamic_scale) {
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

TEST(OpaqueModel, passes_with_few_taps) {
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

/// Every output behind the model's gradients, moved: found, at its stage or in the group that it is judged in.
TEST(OpaqueModel, fails_wherever_a_tensor_is_wrong) {
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
TEST(OpaqueModel, shows_a_mean_of_means) {
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

TEST(OpaqueModel, needs_no_loss_and_takes_tensors_of_any_shape) {
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

TEST(OpaqueModel, is_neither_run_nor_differentiated) {
  EXPECT_THROW(require_stated(opaque_of(normal_case(1))), InvalidCase);
  EXPECT_NO_THROW(require_stated(normal_case(1)));
}

}  // namespace
}  // namespace tally
