// The buffer is unscaled after the first micro-batch and goes on being filled with scaled gradients.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::unscale_mid_window_fault {
namespace {

void accumulate(Run& run) {
  stage::accumulate(run);
  if (run.micro_batch != 0) return;
  for (Parameter& parameter : run.parameters) {
    if (parameter.buffer.dtype != Dtype::fp32) continue;  // the kernel writes fp32
    run.kernels.of<UnscaleArguments>("unscale")(
        run.stream, {Dtype::fp32, parameter.buffer.data(), parameter.buffer.as<float>(), run.inverse_scale.as<float>(),
                     parameter.elements});
  }
}

const RegisterFault registered{{
    .name = "unscale-mid-window",
    .stage = "accumulate",
    .right = "unscale once, after the last micro-batch",
    .wrong = "unscale after the first micro-batch too",
    .condition = "K > 1, scale other than 1",
    .knob = "value",
    .source = "pytorch PR 36601, amp_examples",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale"},
    .stages = replaced<&Stages::accumulate, between_stages<stage::accumulate, accumulate>>,
}};

}  // namespace
}  // namespace tally::unscale_mid_window_fault
