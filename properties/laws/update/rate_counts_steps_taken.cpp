// Law: the learning rate counts optimizer steps really taken: micro-batches and skipped windows do not count.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
