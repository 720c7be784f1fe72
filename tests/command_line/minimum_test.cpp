// The least that a recorder sees of a loop: gradients and parameters after every window, no optimizer's state.
#include "properties/judge/groups.hpp"
#include "reports/command_line/check/capture.hpp"
#include "reports/command_line/output.hpp"
#include "tests/properties/compare/lens_cases.hpp"

namespace tally::command_line::minimum_test {
namespace {

enum class Gradient { unscaled, buffer };

Trace least_of(const Trace& whole, const Case& c, Gradient gradient) {
  const std::vector<std::string> parameters = parameters_of(c.model);
  const auto is_parameter = [&](const std::string& name) {
    return std::find(parameters.begin(), parameters.end(), name) != parameters.end();
  };
  Trace least;
  least.claims = whole.claims;
  least.case_hash = whole.case_hash;
  for (const Tap& tap : whole.taps()) {
    const TapName& name = tap.name;
    const auto last = static_cast<int>(c.windows[static_cast<std::size_t>(name.window)].size()) - 1;
    const bool unscaled = name.stage == "unscale" && name.tensor.starts_with("d.");
    const bool buffer = name.stage == "accumulate" && name.micro_batch == last && name.tensor.starts_with("buffer.");
    const bool kept = gradient == Gradient::unscaled ? unscaled : buffer;
    if (kept || (name.stage == "optimizer" && is_parameter(name.tensor))) least.add(name, tap.value);
  }
  return least;
}

std::map<std::string, Choice> optimizers() {
  const Options momentum{{"momentum", Decimal{"0.9"}}};
  return {{"sgd", choice_of("optimizer", "sgd")},
          {"momentum", choice_of("optimizer", "sgd", momentum)},
          {"nesterov", choice_of("optimizer", "sgd", {{"momentum", Decimal{"0.9"}}, {"nesterov", true}})},
          {"adam", choice_of("optimizer", "adam")},
          {"rmsprop", choice_of("optimizer", "rmsprop")},
          {"rmsprop with momentum", choice_of("optimizer", "rmsprop", momentum)},
          {"lion", choice_of("optimizer", "lion")}};
}

Case trained_by(const Choice& optimizer, std::size_t windows, const std::string& decay) {
  Case c = mlp(3);
  c.windows.assign(windows, {4, 4, 2});
  c.recipe.optimizer = optimizer;
  c.recipe.learning_rate = choice_of("learning_rate", "constant", {{"base", Decimal{"0.0078125"}}});
  c.recipe.clip = choice_of("clip", "global_norm", {{"max_norm", Decimal{"0.5"}}});
  if (decay != "none") c.recipe.weight_decay = choice_of("weight_decay", decay, {{"lambda", Decimal{"0.01"}}});
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);
  return c;
}

/// Every parameter after every window is judged by a bound that says something.
void expect_judged(const Case& c, const Trace& least, const std::string& what) {
  const std::vector<TensorCheck> checks = hard_lenses(c, least, Grouping::inferred).checks;
  EXPECT_EQ(first_failure(checks), nullptr) << what << told(first_failure(checks));
  EXPECT_EQ(exit_code_of(checks), pass) << what << missing(checks);
  EXPECT_EQ(least.taps().size(), 2 * c.windows.size() * parameters_of(c.model).size()) << what;
  for (const Tap& tap : least.taps()) {
    const bool judged = std::any_of(checks.begin(), checks.end(), [&](const TensorCheck& check) {
      return check.tap == tap.name.text() && check.lens == "group" && check.status == Status::pass;
    });
    EXPECT_TRUE(judged) << what << " " << tap.name.text();
  }
}

TEST(TheMinimum, IsJudgedForEveryOptimizer) {
  for (const auto& [name, optimizer] : optimizers()) {
    for (const std::size_t windows : {1, 2, 4}) {
      for (const std::string decay : {"none", "l2", "decoupled"}) {
        const Case c = trained_by(optimizer, windows, decay);
        const Trace whole = run(c);
        const std::string what = name + ", " + std::to_string(windows) + " windows, " + decay;
        expect_judged(c, least_of(whole, c, Gradient::unscaled), what);
        expect_judged(c, least_of(whole, c, Gradient::buffer), what + ", buffers");
      }
    }
  }
}

TEST(TheMinimum, ShowsAWrongStepOfEveryOptimizer) {
  for (const auto& [name, optimizer] : optimizers()) {
    const Case c = trained_by(optimizer, 3, "none");
    const Trace least = least_of(run(c), c, Gradient::unscaled);
    Trace changed;
    changed.claims = least.claims;
    for (const Tap& tap : least.taps()) {
      Tensor value = tap.value;
      if (tap.name.text() == "w2/optimizer/fc1.weight") value.set(5, value.value(5) + 0.015625);
      changed.add(tap.name, std::move(value));
    }
    const std::vector<TensorCheck> checks = hard_lenses(c, changed, Grouping::inferred).checks;
    ASSERT_NE(first_failure(checks), nullptr) << name;
    EXPECT_EQ(first_failure(checks)->tap, "w2/optimizer/fc1.weight") << name;
    EXPECT_EQ(exit_code_of(checks), failed) << name;
  }
}

TEST(TheMinimum, LeavesOnlyWhatNoTapCanShowNotRun) {
  for (const auto& [name, optimizer] : optimizers()) {
    const Case c = trained_by(optimizer, 3, "none");
    const auto checks = hard_lenses(c, least_of(run(c), c, Gradient::unscaled), Grouping::inferred).checks;
    std::set<std::string> unseen;
    for (const TensorCheck& check : checks) {
      if (check.status == Status::not_run) unseen.insert(check.tap);
    }
    std::set<std::string> unread;  // Lion moves by the state before the step
    for (const std::string& p : parameters_of(c.model)) unread.insert("w2/optimizer/exp_avg." + p);
    EXPECT_EQ(unseen, name == "lion" ? unread : std::set<std::string>{}) << name;
  }
}

TEST(TheMinimum, IsNotThereWhereTheLastParametersAreMissing) {
  Case c = trained_by(choice_of("optimizer", "adam"), 2, "none");
  c.recipe.clip = choice_of("clip", "none");
  const Trace least = least_of(run(c), c, Gradient::unscaled);
  Trace shorter;
  shorter.claims = least.claims;
  for (const Tap& tap : least.taps()) {
    if (tap.name.text() != "w1/optimizer/fc2.weight") shorter.add(tap.name, tap.value);
  }
  const std::vector<TensorCheck> checks = hard_lenses(c, shorter, Grouping::inferred).checks;
  EXPECT_EQ(exit_code_of(checks), nothing_ran);
}

/// Parameters alone, as the case has them: no window took a step.
Trace never_stepped(const Case& c) {
  const Trace whole = run(c);
  Trace least;
  least.claims = whole.claims, least.case_hash = whole.case_hash;
  for (const Tap& tap : whole.taps())
    if (tap.name.stage == "optimizer" && c.tensors.contains(tap.name.tensor))
      least.add(tap.name, c.tensors.at(tap.name.tensor));
  return least;
}

TEST(TheMinimum, IsNoPassWhereTheBoundsAdmitThatThereWasNoStep) {
  Case c = trained_by(choice_of("optimizer", "sgd"), 2, "none");
  c.precision.storage = Dtype::bf16;
  const std::int64_t width = 4;
  c.model.layers.resize(1);
  for (int i = 0; i < 10; ++i) {
    c.model.layers.push_back(layer_of("tanh", ""));
    c.model.layers.push_back(layer_of("linear", "deep" + std::to_string(i), {{"out", width}}));
  }
  c.model.layers.push_back(layer_of("linear", "out", {{"out", std::int64_t{3}}}));
  c.tensors.clear();
  fill_tensors(c);
  draw_normal(c, 3);

  const std::vector<TensorCheck> checks = hard_lenses(c, never_stepped(c), Grouping::inferred).checks;

  EXPECT_EQ(exit_code_of(checks), nothing_ran);
  EXPECT_NE(not_shown(checks).find("the step of window 0 is not shown"), std::string::npos) << not_shown(checks);
}

TEST(TheMinimum, ShowsThatNoStepWasTakenWhereTheBoundsTell) {
  const Case c = trained_by(choice_of("optimizer", "sgd"), 2, "none");
  EXPECT_EQ(exit_code_of(hard_lenses(c, never_stepped(c), Grouping::inferred).checks), failed);
}

}  // namespace
}  // namespace tally::command_line::minimum_test
