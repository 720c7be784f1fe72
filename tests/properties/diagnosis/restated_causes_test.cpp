// What a restatement must do to be called a cause, and when none is tried. Which loops are named stands in
// tests/command_line/loops/causes.py.
#include "properties/diagnosis/judged_capture.hpp"
#include "properties/diagnosis/restatement.hpp"
#include "properties/judge/groups.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::restated_causes_test {
namespace {

/// Gradients and parameters, without what `keeps` does not want.
template <class F>
Trace some_of(const Trace& trace, F&& keeps) {
  Trace some;
  some.claims = trace.claims;
  some.case_hash = trace.case_hash;
  for (const Tap& tap : trace.taps()) {
    if (keeps(tap.name)) some.add(tap.name, tap.value);
  }
  return some;
}

bool is_result(const TapName& name) {
  return (name.stage == "unscale" && name.tensor.starts_with("d.")) ||
         (name.stage == "optimizer" && !name.tensor.starts_with("in."));
}

std::vector<std::string> names_of(const std::vector<Suspicion>& causes) {
  std::vector<std::string> names;
  for (const Suspicion& each : causes) names.push_back(each.name);
  return names;
}

std::vector<std::string> named(const Case& c, const Trace& trace) {
  const std::vector<TensorCheck> stated = hard_lenses(c, trace, Grouping::inferred).checks;
  EXPECT_NE(first_failure(stated), nullptr);
  return names_of(restated_causes(c, trace, stated));
}

/// Micro-batches of different items: of 4 and 1, of 2 and 3.
Case uneven() {
  Case c = normal_case(3);
  c.windows = {{5, 1}, {2, 4}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

Case with_normalisation(Case c, Normalisation normalisation) {
  c.normalisation = normalisation;
  return c;
}

TEST(RestatedCauses, NameWhatPassesFromGradientsAndParametersAlone) {
  const Case c = uneven();
  const Trace trace = some_of(run(with_normalisation(c, Normalisation::mean_of_means)), is_result);
  EXPECT_EQ(named(c, trace), std::vector<std::string>{"mean-of-means"});
}

TEST(RestatedCauses, NameTheNormalisationThatIsMeantElsewhere) {
  const Case c = with_normalisation(uneven(), Normalisation::mean_of_means);
  const Trace trace = some_of(run(uneven()), is_result);
  EXPECT_EQ(named(c, trace), std::vector<std::string>{"divided-by-all-items"});
}

Case with_decay(const std::string& kind, const char* lambda, std::vector<std::string> excluded = {}) {
  Case c = uneven();
  c.recipe.weight_decay =
      choice_of("weight_decay", kind, {{"lambda", Decimal{lambda}}, {"exclude", std::move(excluded)}});
  return c;
}

TEST(RestatedCauses, NameADecayOfAnotherSizeOrOfOtherParameters) {
  const auto taken_for = [](const Case& c, const Case& done) { return named(c, some_of(run(done), is_result)).at(0); };
  EXPECT_EQ(taken_for(with_decay("decoupled", "0.25"), with_decay("decoupled", "0.5")), "decay-scaled-by-accumulation");
  for (const char* kind : {"l2", "decoupled"}) {
    EXPECT_EQ(taken_for(with_decay(kind, "0.25"), with_decay(kind, "0.25", {"bias"})), "decay-of-other-parameters");
    EXPECT_EQ(taken_for(with_decay(kind, "0.25", {"bias"}), with_decay(kind, "0.25")), "decay-of-other-parameters");
  }
}

Case with_statistics(const std::string& statistics) {
  Case c = uneven();
  c.windows = {{5, 2}, {2, 4}};
  c.model.layers.insert(c.model.layers.begin() + 1, layer_of("batch_norm", "bn", {{"statistics", statistics}}));
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

TEST(RestatedCauses, NameBatchStatisticsOfOtherRows) {
  for (const char* stated : {"micro_batch", "window", "frozen"}) {
    for (const char* done : {"micro_batch", "window", "frozen"}) {
      if (std::string(stated) == done) continue;
      const Trace trace = some_of(run(with_statistics(done)), is_result);
      EXPECT_EQ(named(with_statistics(stated), trace), std::vector<std::string>{"batch-statistics-otherwise"})
          << stated << " " << done;
    }
  }
}

TEST(RestatedCauses, NameNothingOfARightTrace) {
  const Case c = uneven();
  const Trace trace = some_of(run(c), is_result);
  EXPECT_TRUE(restated_causes(c, trace, hard_lenses(c, trace, Grouping::inferred).checks).empty());
}

TEST(RestatedCauses, NameNothingThatExplainsAPart) {
  const Case c = uneven();
  const Trace whole = some_of(run(with_normalisation(c, Normalisation::mean_of_means)), is_result);
  Trace trace = some_of(whole, [](const TapName& name) { return name.text() != "w1/optimizer/fc2.bias"; });
  Tensor bias = *whole.find("w1/optimizer/fc2.bias");
  bias.set(1, bias.value(1) + 0.25);
  trace.add(tap_name_of("w1/optimizer/fc2.bias"), std::move(bias));
  EXPECT_TRUE(named(c, trace).empty());
}

TEST(RestatedCauses, NameNothingThatJudgesLess) {
  const Case c = uneven();
  const Trace trace = run(with_normalisation(c, Normalisation::mean_of_means));
  std::vector<TensorCheck> stated = hard_lenses(c, trace, Grouping::inferred).checks;
  ASSERT_FALSE(restated_causes(c, trace, stated).empty());
  TensorCheck more = stated.back();
  more.lens = "local";
  more.tap = "w0/decay/fc1.weight";  // judged once, and by no restatement
  more.status = Status::pass;
  stated.push_back(more);
  EXPECT_TRUE(restated_causes(c, trace, stated).empty());
}

TEST(RestatedCauses, NameNothingWhoseBoundsHideTheError) {
  const Case c = uneven();
  const Trace trace = some_of(run(with_normalisation(c, Normalisation::mean_of_means)), is_result);
  std::vector<TensorCheck> stated = hard_lenses(c, trace, Grouping::inferred).checks;
  for (TensorCheck& check : stated) check.norm_error = check.error = 0;  // as if it had failed by next to nothing
  EXPECT_TRUE(restated_causes(c, trace, stated).empty());
}

/// A loss scale at which a sum overflows in every window, and its mean does not.
Case near_overflow() {
  Case c = normal_case(2, Dtype::fp16);
  c.windows = {{2, 3}, {3, 2}};
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 2);
  for (std::int64_t scale = 1024; scale < std::int64_t{1} << 26; scale *= 2) {
    c.recipe.loss_scale = choice_of("loss_scale", "dynamic",
                                    {{"initial", Decimal{std::to_string(scale)}}, {"backoff_factor", Decimal{"0.9"}}});
    const Trace mean = run(c), sum = run(with_normalisation(c, Normalisation::sum));
    const auto overflows = [](const Trace& trace, const char* tap) { return trace.find(tap)->integer(0) != 0; };
    if (!overflows(mean, "w0/overflow_check/found") && !overflows(mean, "w1/overflow_check/found") &&
        overflows(sum, "w0/overflow_check/found") && overflows(sum, "w1/overflow_check/found")) {
      return c;
    }
  }
  throw std::logic_error("no such scale");
}

TEST(RestatedCauses, NameNothingByStepsThatNeverRan) {
  const Case c = near_overflow();
  Trace trace;
  trace.claims = run(c).claims;
  for (int w = 0; w < 2; ++w) {
    for (const std::string& p : parameters_of(c.model)) trace.add({w, -1, "optimizer", p}, c.tensors.at(p));
  }
  EXPECT_TRUE(named(c, trace).empty());
}

TEST(RestatedCauses, AreNotLookedForInALargeCapture) {
  const Case c = uneven();
  Trace trace = run(with_normalisation(c, Normalisation::mean_of_means));
  EXPECT_TRUE(small_enough_to_restate(c, trace));
  EXPECT_TRUE(judged_capture(c, trace).notes.empty());
  trace.add({1, -1, "external", "mask"}, Tensor(Dtype::u8, {(1 << 25) + 1}));
  EXPECT_FALSE(small_enough_to_restate(c, trace));
}

TEST(Regrouped, KeepsFirstInputsAndLastOutputs) {
  Case c = normal_case(1);
  c.windows = {{2, 3}, {1, 2, 2}};
  const auto name = [&](const char* tap) { return regrouped(c, tap_name_of(tap)).text(); };
  EXPECT_EQ(name("w0/m1/accumulate/buffer.fc1.weight"), "w1/m0/accumulate/buffer.fc1.weight");
  EXPECT_EQ(name("w1/m2/forward/fc1.y"), "w4/m0/forward/fc1.y");
  EXPECT_EQ(name("w1/optimizer/in.fc1.weight"), "w2/optimizer/in.fc1.weight");
  EXPECT_EQ(name("w1/optimizer/fc1.weight"), "w4/optimizer/fc1.weight");
  EXPECT_EQ(name("w1/cast/fc1.weight"), "w2/cast/fc1.weight");
  EXPECT_EQ(regrouped(c).windows, (std::vector<std::vector<std::int64_t>>{{2}, {3}, {1}, {2}, {2}}));
}

}  // namespace
}  // namespace tally::restated_causes_test
