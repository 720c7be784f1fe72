// Law: an overflow in any micro-batch skips the whole window: parameters, optimizer state and step count stay, the
// scale backs off, and the next window starts clean.
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::overflow_skips_the_window_law {
namespace {

/// Whether `w<window>/overflow_check/found` says overflow; false when it was not tapped.
bool found(const Trace& trace, int window) {
  const Tensor* flag = trace.find("w" + std::to_string(window) + "/overflow_check/found");
  return flag && flag->integer(0) == 1;
}

void require_frozen(Outcome& outcome, const Case& c, const Trace& trace) {
  for (const std::string& parameter : parameters_of(c.model)) {
    const Tensor* now = trace.find("w1/cast/in." + parameter);
    require(outcome, now && *now == c.tensors.at(parameter), "w1/cast/in." + parameter, "optimizer",
            parameter + " moved in a window that overflowed");
    require(outcome, !trace.find("w0/optimizer/" + parameter), "w0/optimizer/" + parameter, "overflow_check",
            "the optimizer ran on " + parameter + " in a window that overflowed");
  }
  const Tensor* step = trace.find("w1/schedule/in.step");
  require(outcome, step && step->integer(0) == 0, "w1/schedule/in.step", "schedule",
          "the step count moved in a window that overflowed");
  const Tensor* before = trace.find("w0/scaler/in.scale");
  const Tensor* after = trace.find("w0/scaler/scale");
  require(outcome, before && after && after->value(0) == before->value(0) / 2, "w0/scaler/scale", "scaler",
          "the scale did not back off by one half after an overflow");
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun judged = run_and_check(c, subject);
  if (judged.outcome.status == Status::not_run) return judged.outcome;
  require(judged.outcome, found(judged.trace, 0), "w0/overflow_check/found", "overflow_check",
          "an overflow in the first micro-batch was not found");
  require_frozen(judged.outcome, c, judged.trace);
  return settled(std::move(judged.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  Case tame = c;
  Tensor& x = tame.tensors.at("x");
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.model.input); ++i) x.set(i, 0);
  Choice& scale = tame.recipe.loss_scale;
  scale.options["initial"] = Decimal{"1"};
  return !found(run(tame, subject), 0);
}

const RegisterLaw registered{{
    .name = "overflow_skips_the_window",
    .family = "loss scaling",
    .statement = "An overflow in any micro-batch skips the whole window and backs the scale off.",
    .shape = overflow_in_first_micro_batch,
    .holds = holds,
    .control = "the same case without the large row takes the step",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::overflow_skips_the_window_law
