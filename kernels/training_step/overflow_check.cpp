#include "kernels/training_step/multi_tensor.hpp"
#include "kernels/training_step/stages.hpp"

namespace tally::stage {

void overflow_check(Run& run) {
  const bool fused = reads_gradients_once(run);
  for (Parameter& parameter : run.parameters) {
    const DeviceTensor& summed = run.tap_summed("overflow_check", parameter);
    if (fused) continue;
    run.launch<OverflowCheckArguments>(
        "overflow_check", {summed.dtype, summed.data(), run.found_flag.as<std::uint32_t>(), parameter.elements});
  }
  if (fused) unscale_check_norm(run);
  run.found = run.found_flag.scalar<std::uint32_t>() != 0;
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

}  // namespace tally::stage
