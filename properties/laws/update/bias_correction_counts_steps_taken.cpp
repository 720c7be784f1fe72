// Law: Adam's bias correction counts steps really taken: after a window that overflowed, the next one is the first.
//   m / (1 - β^(t+1)), t = 0 until a step is taken
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
