// Laws of optimizers: momentum, Lion, RMSProp, once a window.
#include <cmath>

#include "properties/generators/choices.hpp"
#include "properties/judge/lens.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: weight decay, momentum and bias correction act once a window, however many micro-batches it has.
namespace tally::decay_and_momentum_once_law {
namespace {

void shape(Plan& plan) {
  at_least_micro_batches(plan, 2);
  at_least_windows(plan, 2);
  const std::string decay = plan.seed % 2 == 0 ? "l2" : "decoupled";
  plan.recipe.weight_decay = choice("weight_decay", decay, {{"lambda", Decimal{"0.05"}}});
  const Choice& schedule = plan.recipe.learning_rate;  // a decay by a rate of zero does nothing
  if (schedule.kind == "warmup_cosine" || schedule.number("base").to_double() == 0)
    plan.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.1"}}});
  if (plan.recipe.optimizer.kind == "sgd") {
    const Decimal momentum{plan.seed % 3 == 0 ? "0" : "0.9"};  // without it, decay is all that may act twice
    plan.recipe.optimizer = choice("optimizer", "sgd", {{"momentum", momentum}});
  }
  plan.recipe.clip = choice("clip", "none");
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case without = c;
  without.recipe.weight_decay = choice("weight_decay", "none");
  return bits_differ(run(c, subject), run(without, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "decay_and_momentum_once",
    .family = "decay, optimizer, schedule",
    .statement = "Weight decay, momentum and bias correction act once a window.",
    .shape = shape,
    .holds = holds,
    .control = "no decay gives another update",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::decay_and_momentum_once_law

// Law: the first step, which finds no momentum buffer, takes the gradient itself; dampening acts from the second on,
// Nesterov from the first.
//   v_0 = g_0;   v_t = μ v_(t-1) + (1 - d) g_t
namespace tally::momentum_begins_with_the_gradient_law {
namespace {

void shape(Plan& plan) {
  usual_formats(plan);
  const bool nesterov = plan.seed % 2 == 0;
  at_least_windows(plan, 2);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.execution.kernels.erase("clip_decay_step");  // it writes no gradient before the step
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.optimizer =
      choice("optimizer", "sgd",
             {{"momentum", Decimal{"0.75"}}, {"dampening", Decimal{nesterov ? "0" : "0.5"}}, {"nesterov", nesterov}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* gradient = judged.trace.find("w0/optimizer/in.d." + parameter);
    const std::string name = "w0/optimizer/momentum." + parameter;
    const Tensor* momentum = judged.trace.find(name);
    if (!gradient || !momentum) {
      require(judged.outcome, false, name, "optimizer", name + " was not tapped");
    } else {
      add(judged.outcome, bitwise_check(name, "optimizer", *gradient, *momentum));
    }
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case without = c;
  without.recipe.optimizer = choice("optimizer", "sgd");
  return bits_differ(run(c, subject), run(without, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "momentum_begins_with_the_gradient",
    .family = "decay, optimizer, schedule",
    .statement = "Momentum begins with the gradient itself, undampened.",
    .shape = shape,
    .holds = holds,
    .control = "no momentum gives another second step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::momentum_begins_with_the_gradient_law

// Law: under Lion without decay every element of a parameter moves by the rate, up or down, or not at all, whatever the
// size of its gradient.
namespace tally::lion_moves_by_the_rate_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");  // every window steps
  plan.recipe.optimizer = choice("optimizer", "lion");
}

/// The element that `before` becomes in its format by this move in fp32.
double moved(const Tensor& like, double before, float move) {
  Tensor one(like.dtype, {1});
  one.set(0, static_cast<float>(before) + move);
  return one.value(0);
}

std::size_t astray(const Tensor& before, const Tensor& after, float rate) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < before.elements(); ++i) {
    const double from = before.value(i), to = after.value(i);
    count += to != from && to != moved(before, from, rate) && to != moved(before, from, -rate) && !std::isnan(to);
  }
  return count;
}

Outcome holds(const Case& c, const RunOptions& options) {
  CheckedRun checked = run_and_check(c, options);
  if (checked.outcome.status == Status::not_run) return checked.outcome;
  std::size_t compared = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w) + "/optimizer/";
    const Tensor* rate = checked.trace.find(at + "in.learning_rate");
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* before = checked.trace.find(at + "in." + parameter);
      const Tensor* after = checked.trace.find(at + parameter);
      if (!rate || !before || !after) continue;  // the lenses name what is missing
      ++compared;
      const std::size_t count = astray(*before, *after, static_cast<float>(rate->value(0)));
      require(checked.outcome, count == 0, at + parameter, "optimizer",
              std::to_string(count) + " elements of " + parameter + " moved by something else than the rate");
    }
  }
  require(checked.outcome, compared > 0, "w0/optimizer", "optimizer", "no step left what the law compares");
  return settled(std::move(checked.outcome));
}

bool differs(const Case& c, const RunOptions& options) {
  Case other = c;
  other.recipe.optimizer = choice("optimizer", "sgd");
  return bits_differ(run(c, options), run(other, options), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "lion_moves_by_the_rate",
    .family = "decay, optimizer, schedule",
    .statement = "Under Lion every element moves by the rate or not at all.",
    .shape = shape,
    .holds = holds,
    .control = "SGD gives another step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::lion_moves_by_the_rate_law

// Law: RMSProp without momentum and decay divides each gradient by a number that is not negative: no parameter moves
// with its gradient, and one whose gradient is zero keeps its bits.
namespace tally::rmsprop_moves_against_its_gradient_law {
namespace {

void shape(Plan& plan) {
  at_least_windows(plan, 2);
  plan.recipe.weight_decay = choice("weight_decay", "none");
  plan.recipe.clip = choice("clip", "none");
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.optimizer = choice("optimizer", "rmsprop");
}

/// Elements of a parameter that moved with their gradient, or without one.
std::size_t astray(const Tensor& gradient, const Tensor& before, const Tensor& after) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < gradient.elements(); ++i) {
    const double moved = after.value(i) - before.value(i);
    count += gradient.value(i) * moved > 0 || (gradient.value(i) == 0 && moved != 0);
  }
  return count;
}

Outcome holds(const Case& c, const RunOptions& options) {
  CheckedRun checked = run_and_check(c, options);
  if (checked.outcome.status == Status::not_run) return checked.outcome;
  std::size_t compared = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w) + "/optimizer/";
    for (const std::string& parameter : parameters_of(c.model)) {
      const Tensor* gradient = checked.trace.find(at + "in.d." + parameter);
      const Tensor* before = checked.trace.find(at + "in." + parameter);
      const Tensor* after = checked.trace.find(at + parameter);
      if (!gradient || !before || !after) continue;  // the lenses name what is missing
      ++compared;
      const std::size_t count = astray(*gradient, *before, *after);
      require(checked.outcome, count == 0, at + parameter, "optimizer",
              std::to_string(count) + " elements of " + parameter + " moved with their gradient");
    }
  }
  require(checked.outcome, compared > 0, "w0/optimizer", "optimizer", "no step left what the law compares");
  return settled(std::move(checked.outcome));
}

bool differs(const Case& c, const RunOptions& options) {
  Case other = c;
  other.recipe.optimizer = choice("optimizer", "sgd");
  return bits_differ(run(c, options), run(other, options), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "rmsprop_moves_against_its_gradient",
    .family = "decay, optimizer, schedule",
    .statement = "Under RMSProp no parameter moves with its gradient.",
    .shape = shape,
    .holds = holds,
    .control = "SGD gives another step",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::rmsprop_moves_against_its_gradient_law
