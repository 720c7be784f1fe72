// Laws of what counts steps and of what does not decay.
#include "properties/generators/choices.hpp"
#include "properties/generators/token_plan.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

// Law: Adam's bias correction counts steps really taken: after a window that overflowed, the next one is the first.
//   m / (1 - β^(t+1)), t = 0 until a step is taken
namespace tally::bias_correction_counts_steps_taken_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  at_least_windows(plan, 3);
  plan.recipe.optimizer = choice("optimizer", "adam");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  std::int64_t taken = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string at = "w" + std::to_string(w);
    const Tensor* found = judged.trace.find(at + "/overflow_check/found");
    if (!found || found->integer(0) != 0) continue;
    const Tensor* step = judged.trace.find(at + "/optimizer/in.step");
    require(judged.outcome, step && step->integer(0) == taken, at + "/optimizer/in.step", "optimizer",
            "window " + std::to_string(w) + " should correct for step " + std::to_string(taken));
    ++taken;
  }
  return settled(std::move(judged.outcome));
}

/// The same gradients applied as a later step move the parameters elsewhere.
bool differs(const Case& c, const RunOptions& subject) {
  Case later = c;
  for (const std::string& parameter : parameters_of(c.model)) {
    for (const std::string moment : {"exp_avg.", "exp_avg_sq."}) {
      later.tensors[moment + parameter] = Tensor(c.precision.master, c.tensors.at(parameter).shape);
    }
  }
  later.tensors["step"] = Tensor(Dtype::i64, {});
  later.tensors["step"].set_bits(0, 5);
  return bits_differ(run(c, subject), run(later, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "bias_correction_counts_steps_taken",
    .family = "decay, optimizer, schedule",
    .statement = "Bias correction counts steps really taken, not windows or micro-batches.",
    .shape = shape,
    .holds = holds,
    .control = "the same gradients as a later step move the parameters elsewhere",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::bias_correction_counts_steps_taken_law

// Law: the learning rate counts optimizer steps really taken: micro-batches and skipped windows do not count.
namespace tally::rate_counts_steps_taken_law {
namespace {

void shape(Plan& plan) {
  overflow_in_first_micro_batch(plan);
  at_least_windows(plan, 3);
  plan.recipe.learning_rate = choice(
      "learning_rate", "step", {{"base", Decimal{"0.125"}}, {"every", std::int64_t{1}}, {"factor", Decimal{"0.5"}}});
}

/// The step count window w starts with; -1 when it was not tapped.
std::int64_t step_of(const Trace& trace, std::size_t w) {
  const Tensor* step = trace.find("w" + std::to_string(w) + "/schedule/in.step");
  return step ? step->integer(0) : -1;
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  std::int64_t taken = 0;
  for (std::size_t w = 0; w < c.windows.size(); ++w) {
    const std::string name = "w" + std::to_string(w) + "/schedule/in.step";
    require(judged.outcome, step_of(judged.trace, w) == taken, name, "schedule",
            "window " + std::to_string(w) + " starts at step " + std::to_string(step_of(judged.trace, w)) + ", but " +
                std::to_string(taken) + " steps were taken");
    const Tensor* found = judged.trace.find("w" + std::to_string(w) + "/overflow_check/found");
    taken += found && found->integer(0) == 0;
  }
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case constant = c;
  constant.recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.125"}}});
  return bits_differ(run(c, subject), run(constant, subject), {"schedule", "optimizer"});
}

const RegisterLaw registered{{
    .name = "rate_counts_steps_taken",
    .family = "decay, optimizer, schedule",
    .statement = "The learning rate counts steps really taken, not micro-batches or skipped windows.",
    .shape = shape,
    .holds = holds,
    .control = "a constant rate gives another update",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::rate_counts_steps_taken_law

// Law: the learning rate of every step follows its schedule: the warm-up, the fall, and the floor from the end on.
//   t < w: base (t + 1) / w;   then floor + (base - floor)(1 + cos(π (t - w) / (T - w))) / 2;   t >= T: floor
namespace tally::rate_follows_its_formula_law {
namespace {

void shape(Plan& plan) {
  plan.windows = {{2, 2}, {2}, {2, 3}, {2}, {2, 2}, {2}};
  plan.recipe.loss_scale = choice("loss_scale", "none");
  plan.recipe.learning_rate = choice("learning_rate", "warmup_cosine",
                                     {{"base", Decimal{"0.1"}},
                                      {"warmup", std::int64_t{plan.seed % 2 == 0}},
                                      {"total", std::int64_t{4}},
                                      {"floor", Decimal{"0.01"}}});
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  const Tensor* last = judged.trace.find("w5/schedule/learning_rate");
  const Tensor* before = judged.trace.find("w4/schedule/learning_rate");
  require(judged.outcome, last && before && *last == *before, "w5/schedule/learning_rate", "schedule",
          "the rate still moves after the schedule's end");
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case longer = c;
  longer.recipe.learning_rate.options["total"] = std::int64_t{5};
  return bits_differ(run(c, subject), run(longer, subject), {"schedule"});
}

const RegisterLaw registered{{
    .name = "rate_follows_its_formula",
    .family = "decay, optimizer, schedule",
    .statement = "The learning rate of every step follows its schedule, past its end too.",
    .shape = shape,
    .holds = holds,
    .control = "a longer schedule gives other rates",
    .differs = differs,
    .weight = 0.4,
}};

}  // namespace
}  // namespace tally::rate_follows_its_formula_law

// Law: weight decay leaves out what the recipe excludes: biases, the parameters of norms and tables that are looked up,
// each apart from the others.
namespace tally::excluded_parameters_do_not_decay_law {
namespace {

void shape(Plan& plan) {
  const bool tokens = plan.seed % 5 == 0;
  if (tokens) read_tokens(plan);
  if (plan.seed % 2 == 0 && !tokens) with_batch_norm(plan, "micro_batch");
  static const std::vector<std::vector<std::string>> excluded = {{"bias"}, {"norm"}, {"bias", "norm"}};
  plan.recipe.weight_decay =
      choice("weight_decay", plan.seed / 2 % 2 == 0 ? "l2" : "decoupled",
             {{"lambda", Decimal{"0.05"}}, {"exclude", excluded[plan.seed / 4 % excluded.size()]}});
  if (tokens) plan.recipe.weight_decay.options["exclude"] = std::vector<std::string>{"embedding"};
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  Case all = c;
  all.recipe.weight_decay.options["exclude"] = std::vector<std::string>{};
  return bits_differ(run(c, subject), run(all, subject), {"optimizer"});
}

const RegisterLaw registered{{
    .name = "excluded_parameters_do_not_decay",
    .family = "decay, optimizer, schedule",
    .statement = "Weight decay leaves out the biases, norm parameters and tables that the recipe excludes.",
    .shape = shape,
    .holds = holds,
    .control = "without the exclusion the update is another",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::excluded_parameters_do_not_decay_law
