// Law: cross-entropy keeps its bound for one class, for more than one thread takes, and where logits lie further apart
// than exp can span (88 in fp32): the largest is taken off before any exponential.
#include "oracle/case/formats.hpp"
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::softmax_holds_far_apart_law {
namespace {

/// One row's logits are infinite, of either sign.
void overflow_in_logits(Plan& plan) {
  const bool narrow = !format_row(plan.precision.storage).has_range_of_fp32();
  plan.input = 1;
  plan.hidden = {layer("scale", "enlarged", {{"factor", Decimal{narrow ? "4096" : "1099511627776"}}})};
  plan.gradient_magnitude = narrow ? 0x1p12 : 0x1p100;
}

/// One row of x is large: its logits are hundreds apart, of either sign, in its micro-batch alone.
void shape(Plan& plan) {
  static const std::int64_t classes[] = {1, 2, 4, 33, 65};
  at_least_micro_batches(plan, 2);
  plan.hidden.clear();
  plan.loss = choice("loss", "cross_entropy", {{"label_smoothing", Decimal{plan.seed % 2 == 0 ? "0" : "0.125"}}});
  plan.outputs = classes[plan.seed % std::size(classes)];
  plan.gradient_magnitude = 512;
  if (plan.seed % 4 == 1) overflow_in_logits(plan);
  if (plan.seed % 8 < 4) plan.execution.kernels["cross_entropy"] = "online";
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward"});
}

const RegisterLaw registered{{
    .name = "softmax_holds_far_apart",
    .family = "kernels",
    .statement =
        "Cross-entropy keeps its bound for one class, for many, and for logits further apart than exp can span.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other logits",
    .differs = differs,
    .weight = 1,
}};

}  // namespace
}  // namespace tally::softmax_holds_far_apart_law
