// Law: with K = 1 the accumulating pipeline leaves the same bits as the same kernels with accumulation switched off
// (gradient written directly, no buffer).   0 + g = g, bit for bit, ±0 as one value.
#include <numeric>

#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::one_micro_batch_equals_plain_law {
namespace {

void shape(Plan& plan) {
  usual_formats(plan);
  for (auto& window : plan.windows) window = {std::accumulate(window.begin(), window.end(), std::int64_t{0})};
  plan.empty_micro_batch = false;
  if (plan.precision.storage != Dtype::fp32)
    plan.execution.kernels.erase("linear.weight_gradient");  // into the buffer: never rounded to the storage format
}

Outcome holds(const Case& c, const RunOptions& subject) {
  CheckedRun accumulated = run_and_check(c, subject);
  if (accumulated.outcome.status == Status::not_run) return accumulated.outcome;
  RunOptions direct = subject;
  direct.accumulate = false;
  require_equal_bits(accumulated.outcome, run(c, direct), accumulated.trace,
                     {"unscale", "norm", "clip", "decay", "optimizer", "running_stats", "scaler", "schedule"},
                     "one micro-batch differs from no accumulation");
  return settled(std::move(accumulated.outcome));
}

bool differs(const Case& c, const RunOptions& subject) {
  RunOptions direct = subject;
  direct.accumulate = false;
  return bits_differ(run(c, subject), run(with_other_input(c), direct), {"unscale"});
}

const RegisterLaw registered{{
    .name = "one_micro_batch_equals_plain",
    .family = "equivalence",
    .statement = "One micro-batch a window leaves the same bits as the same kernels without accumulation.",
    .shape = shape,
    .holds = holds,
    .control = "another input without accumulation gives other bits",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::one_micro_batch_equals_plain_law
