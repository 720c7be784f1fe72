// Law: every window takes exactly one step, after its last micro-batch: the short last one and those of another K too.
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

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
