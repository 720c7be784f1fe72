// Laws of windows: each takes one step, and nothing leaks into the next.
#include <algorithm>

#include "oracle/case/contract.hpp"
#include "properties/generators/blocks.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: every window takes exactly one step, after its last micro-batch: the short last one and those of another K too.
namespace tally::every_window_takes_its_step_law {
namespace {

void shape(Plan& plan) {
  no_micro_batch_statistics(plan);
  plan.windows = {{2, 2, 3}, {2, 3, 2, 2}, {3, 2}};
  if (plan.seed % 2 == 0) plan.windows = {{3, 2}, {2, 2, 3}, {2}};
  take_out_if(plan.hidden, [](const Layer& l) { return l.kind == "batch_norm"; });
  plan.recipe.loss_scale = choice("loss_scale", "none");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.trace.taps().empty()) return judged.outcome;
  judged.outcome.status = Status::pass;  // a step that is missing fails below, by name
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w), parameter = parameters_of(c.model).front();
    require(judged.outcome, judged.trace.find(at + "/optimizer/" + parameter), at + "/optimizer/" + parameter,
            "optimizer", "window " + std::to_string(w) + " took no step");
    const Tensor* step = judged.trace.find(at + "/schedule/step");
    require(judged.outcome, step && step->integer(0) == static_cast<std::int64_t>(w) + 1, at + "/schedule/step",
            "schedule", "after window " + std::to_string(w) + " the count of steps is not " + std::to_string(w + 1));
  }
  return settled(std::move(judged.outcome));
}

/// One window of all micro-batches takes one step, and ends elsewhere.
bool differs(const Case& c, const RunOptions& subject) {
  Case joined = c;
  joined.windows.resize(1);
  for (std::size_t w = 1; w < c.windows.size(); ++w) {
    joined.windows[0].insert(joined.windows[0].end(), c.windows[w].begin(), c.windows[w].end());
  }
  return bits_differ(run(c, subject), run(joined, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "every_window_takes_its_step",
    .family = "equivalence",
    .statement = "Every window takes exactly one step, after its last micro-batch.",
    .shape = shape,
    .holds = holds,
    .control = "the same micro-batches in one window end elsewhere",
    .differs = differs,
    .weight = 0.75,
}};

}  // namespace
}  // namespace tally::every_window_takes_its_step_law

// Law: a window without a single item has gradient zero, and its step is taken: momentum and decay move the
// parameters.
//   N = 0: c = 0, g = 0;   p <- p - lr (μ v + λ p)
namespace tally::empty_window_takes_its_step_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.windows.resize(2);
  plan.loss = choice("loss", "mse", {{"item_weights", true}});
  plan.normalisation = plan.seed % 2 == 0 ? Normalisation::window_items : Normalisation::mean_of_means;
  plan.empty_micro_batch = false;
  plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", Decimal{"0.5"}}});
  plan.recipe.weight_decay = plan.seed % 3 == 0 ? choice("weight_decay", "none")
                                                : choice("weight_decay", "l2", {{"lambda", Decimal{"0.0625"}}});
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.25"}}});
  plan.recipe.loss_scale = choice("loss_scale", "none");
  if (plan.seed % 4 == 0)  // of a norm of zero, with nothing to keep the quotient finite
    plan.recipe.clip = choice("clip", "global_norm", {{"max_norm", Decimal{"0.25"}}, {"epsilon", Decimal{"0"}}});
}

Case without_items_in_the_second_window(Case c) {
  Tensor& weight = c.tensors.at("item_weight");
  for (auto row = static_cast<std::size_t>(first_row(c, 1)); row < weight.elements(); ++row) weight.set(row, 0);
  weight.drawing.reset();
  return c;
}

bool is_zero(const Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    if (!(tensor.value(i) == 0)) return false;
  }
  return true;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(without_items_in_the_second_window(c), subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* gradient = judged.trace.find("w1/unscale/d." + parameter);
    require(judged.outcome, gradient && is_zero(*gradient), "w1/unscale/d." + parameter, "unscale",
            "a window without items has a gradient of " + parameter);
    require(judged.outcome, judged.trace.find("w1/optimizer/" + parameter), "w1/optimizer/" + parameter, "optimizer",
            "a window without items did not step " + parameter);
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(without_items_in_the_second_window(c), subject), {"unscale"});
}

const RegisterLaw registered{{
    .name = "empty_window_takes_its_step",
    .family = "equivalence",
    .statement = "A window without items has gradient zero and takes its step.",
    .shape = shape,
    .holds = holds,
    .control = "items in the second window give it a gradient",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::empty_window_takes_its_step_law

// Law: nothing leaks from one window into the next: with a learning rate of zero, the same rows give the same gradient
// bits in both windows.
namespace tally::windows_do_not_leak_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  plan.windows = {plan.windows.front(), plan.windows.front()};
  plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0"}}});
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.normalisation = Normalisation::window_items;
}

/// The gradients of both windows, where both were tapped.
void require_same_gradients(Outcome& outcome, const Case& c, const Trace& trace) {
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* first = trace.find("w0/unscale/d." + parameter);
    const Tensor* second = trace.find("w1/unscale/d." + parameter);
    const std::string name = "w1/unscale/d." + parameter;
    if (!first || !second) {
      require(outcome, false, name, "unscale", name + " was not tapped");
      continue;
    }
    // Frozen statistics excepted, running values feed nothing during training: equal rows, equal bits.
    require(outcome, *first == *second, name, "accumulate",
            "the same rows gave another gradient of " + parameter + " in the second window");
  }
}

Outcome holds(const Case& c, const RunOptions& subject) {
  const Choice& rate = c.recipe.learning_rate;
  const bool still = rate.kind == "constant" && rate.number("base").to_double() == 0;
  if (c.windows.size() != 2 || c.windows[0] != c.windows[1] || !still) {
    return not_for("two windows of the same micro-batches and a learning rate of 0");
  }
  const Case repeated = with_repeated_rows(c);
  CheckedRun judged = run_and_check(repeated, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  require_same_gradients(judged.outcome, repeated, judged.trace);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  const Trace trace = run(c, subject);
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* first = trace.find("w0/unscale/d." + parameter);
    const Tensor* second = trace.find("w1/unscale/d." + parameter);
    if (first && second && !(*first == *second)) return true;
  }
  return false;
}

const RegisterLaw registered{{
    .name = "windows_do_not_leak",
    .family = "equivalence",
    .statement = "Nothing leaks from one window into the next.",
    .shape = shape,
    .holds = holds,
    .control = "other rows in the second window give another gradient",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::windows_do_not_leak_law
