// Law: SiLU keeps its bound where exp overflows: far above 0 it is x, with slope 1, far below it is 0, with slope 0.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::silu_spans_the_range_law {
namespace {

/// One row of x is large: its activations are hundreds away from 0, of either sign, in its micro-batch alone.
void shape(Plan& plan) {
  static const std::int64_t widths[] = {1, 2, 4, 33, 65};
  at_least_micro_batches(plan, 2);
  plan.hidden = {layer("linear", "fc1", {{"out", widths[plan.seed % std::size(widths)]}}), layer("silu")};
  plan.gradient_magnitude = 512;
}

Outcome holds(const Case& c, const RunOptions& options) { return run_and_check(c, options).outcome; }

bool differs(const Case& c, const RunOptions& options) {
  return bits_differ(run(c, options), run(with_other_input(c), options), {"forward"});
}

const RegisterLaw registered{{
    .name = "silu_spans_the_range",
    .family = "kernels",
    .statement = "SiLU keeps its bound where exp overflows: far above 0 it is its input, far below it is 0.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other activations",
    .differs = differs,
}};

}  // namespace
}  // namespace tally::silu_spans_the_range_law
