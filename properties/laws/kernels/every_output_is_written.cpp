// Law: nothing depends on what memory held: with every activation and gradient poisoned before each micro-batch, and
// every unscaled gradient before the step, the bits are the same.
#include "kernels/training_step/own_step.hpp"
#include "kernels/training_step/stages.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::every_output_is_written_law {
namespace {

/// The stages under test, for the stages that poison first.
thread_local const Stages* under_test = nullptr;

void poisoned_forward(Run& run) {
  if (run.recomputing) return under_test->forward(run);          // backward is under way: its inputs must stay
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {  // what is in front of a part was received
    LayerState& layer = run.layers[i];
    for (DeviceTensor* output : {&layer.y, &layer.dx, &layer.dy}) {
      if (*output) output->poison();
    }
  }
  run.losses.poison();
  run.dy.poison();
  for (Parameter& parameter : run.parameters) parameter.gradient.poison();
  under_test->forward(run);
}

void poisoned_unscale(Run& run) {
  for (Parameter& parameter : run.parameters) parameter.unscaled.poison();
  under_test->unscale(run);
}

Trace run_poisoned(const Case& c, const RunOptions& subject) {
  under_test = subject.stages != nullptr ? subject.stages : &shipped_stages();
  Stages stages = *under_test;
  stages.forward = poisoned_forward;
  stages.unscale = poisoned_unscale;
  RunOptions poisoned = subject;
  poisoned.stages = &stages;
  return run(c, poisoned);
}

Outcome holds(const Case& c, const RunOptions& subject) {
  require_tallys_kernels(subject, "memory poisoned between two stages");
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  require_equal_bits(judged.outcome, judged.trace, run_poisoned(c, subject),
                     {"forward", "loss", "backward", "fork", "unscale", "optimizer"},
                     "an output depends on what its memory held");
  return settled(std::move(judged.outcome));
}

/// What is never written must show: a poisoned buffer between two runs of a stage does.
bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run_poisoned(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "every_output_is_written",
    .family = "kernels",
    .statement = "Every output is written: what memory held before changes nothing.",
    .holds = holds,
    .control = "another input with poisoned memory gives other bits",
    .differs = differs,
    .weight = 0.5,
}};

}  // namespace
}  // namespace tally::every_output_is_written_law
