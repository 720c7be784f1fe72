// The sum is divided by N when it is unscaled, not each loss before it: one division more or less of the same sum;
// declared, it only rounds elsewhere.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::divides_at_the_end_fault {
namespace {

/// Divides by this at the window's end: N, or K where micro-batches take their own means.
double window_divisor(const Run& run) {
  const auto count = [&](std::size_t w) { return static_cast<double>(run.c.windows[w].size()); };
  switch (run.c.normalisation) {
    case Normalisation::window_items:
      return run.window_items;
    case Normalisation::mean_of_means:
      return count(static_cast<std::size_t>(run.window));
    case Normalisation::mean_of_means_configured:
      return count(0);
    case Normalisation::sum:
      return 1;
  }
  return 1;
}

void begin_window(Run& run) {
  stage::begin_window(run);
  run.trace.claims.divide = "window";
  const double by = static_cast<double>(run.window_scale) * window_divisor(run);
  run.inverse_scale.set_scalar(by == 0 ? 0.0f : static_cast<float>(1 / by));
}

void factor(Run& run) {
  const bool means = run.c.normalisation == Normalisation::mean_of_means ||
                     run.c.normalisation == Normalisation::mean_of_means_configured;
  const double items = means                                       ? run.items(run.micro_batch)
                       : run.c.normalisation == Normalisation::sum ? 1
                       : run.window_items == 0                     ? 0
                                                                   : 1;
  run.factor = items == 0 ? 0.0f : static_cast<float>(static_cast<double>(run.window_scale) / items);
}

const Stages& legal() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.factor = factor;
    return copy;
  }();
  return stages;
}

const RegisterEquivalent registered{{
    .name = "divides-at-the-end",
    .change = "the sum is divided by N when it is unscaled, not each loss before it",
    .why = "one division more or less of the same sum; declared, it only rounds elsewhere",
    .source = "Lightning 87: the order of division and summation",
    .laws = {"partition_equals_full_batch", "unequal_items_are_weighted", "short_tail_window", "loss_scale_cancels"},
    .stages = legal,
}};

}  // namespace
}  // namespace tally::divides_at_the_end_fault
