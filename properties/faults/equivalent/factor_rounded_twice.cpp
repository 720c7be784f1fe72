// The scale is divided by K and then by n in fp32, as `(loss / K).backward()` of a mean does: one division more of the
// same number; declared, it only rounds once more. Where K n is not the divisor a loop has no such form.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::factor_rounded_twice_fault {
namespace {

void divide_twice(Run& run) {
  stage::fix_factor(run);
  run.trace.claims.factor = "fp32_twice";
  const bool configured = run.c.normalisation == Normalisation::mean_of_means_configured;
  const std::size_t window = configured ? 0 : static_cast<std::size_t>(run.window);
  const auto micro_batches = static_cast<double>(run.c.windows[window].size());
  const double items = run.items(run.micro_batch);
  const bool means = configured || run.c.normalisation == Normalisation::mean_of_means;
  const bool fits =
      means || (run.c.normalisation == Normalisation::window_items && micro_batches * items == run.window_items);
  if (!fits || items == 0) return;
  run.factor = run.window_scale / static_cast<float>(micro_batches) / static_cast<float>(items);
}

const Stages& legal() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.factor = divide_twice;
    return copy;
  }();
  return stages;
}

const RegisterEquivalent registered{{
    .name = "factor-rounded-twice",
    .change = "the factor is divided by K and then by n in fp32, not once in binary64",
    .why = "one division more of the same number; declared, it only rounds once more",
    .source = "PyTorch: (loss / K).backward() of a mean",
    .laws = {"partition_equals_full_batch", "equal_sizes_make_means_agree", "loss_scale_cancels"},
    .stages = legal,
}};

}  // namespace
}  // namespace tally::factor_rounded_twice_fault
