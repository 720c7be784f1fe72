// Law: whatever the bit patterns of the operands, every stage keeps its bound: signed zeros, subnormals, powers of two
// and their neighbours, half-way cases of the next narrower format, pairs that cancel, outliers, graded magnitudes,
// means far from zero, and 256 micro-batches in a row.
#include "properties/generators/choices.hpp"
#include "properties/laws/run_and_check.hpp"
#include "properties/laws/shapes.hpp"

namespace tally::any_bit_pattern_keeps_its_bound_law {
namespace {

/// A long accumulation takes a small model.
void cut_often(Plan& plan) {
  plan.input = 3;
  plan.hidden.clear();
  plan.outputs = 2;
  plan.loss = choice("loss", "mse");
  plan.ignored_percent = 0;
  plan.empty_micro_batch = false;
  plan.windows = {std::vector<std::int64_t>(256, 1)};
}

void shape(Plan& plan) {
  static const char* classes[] = {"zeros_signed", "tiny", "powers", "halfway", "pairs", "outlier", "wide"};
  if (plan.values.empty()) plan.values = classes[plan.seed % 7];
  if (plan.seed % 16 == 3) cut_often(plan);
  if (plan.seed % 6 != 1) return;
  plan.far_mean = true;
  with_batch_norm(plan, plan.seed % 4 == 1 ? "window" : "micro_batch");
}

Outcome holds(const Case& c, const RunOptions& subject) { return run_and_check(c, subject).outcome; }

bool differs(const Case& c, const RunOptions& subject) {
  return bits_differ(run(c, subject), run(with_other_input(c), subject), {"forward", "unscale"});
}

const RegisterLaw registered{{
    .name = "any_bit_pattern_keeps_its_bound",
    .family = "kernels",
    .statement = "Whatever the bit patterns of its operands, every stage keeps its bound.",
    .shape = shape,
    .holds = holds,
    .control = "another input gives other bits",
    .differs = differs,
    .any_values = true,
}};

}  // namespace
}  // namespace tally::any_bit_pattern_keeps_its_bound_law
