// An explicit unscale for clipping, and a fused optimizer that unscales again.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::double_unscale_fault {
namespace {

void unscale(Run& run) {
  stage::unscale(run);
  for (Parameter& parameter : run.parameters) {
    run.kernels.of<UnscaleArguments>("unscale")(run.stream,
                                                {Dtype::fp32, parameter.unscaled.data(), parameter.unscaled.as<float>(),
                                                 run.inverse_scale.as<float>(), parameter.elements});
    run.tap("unscale", "d." + parameter.name, parameter.unscaled);
  }
}

const RegisterFault registered{{
    .name = "double-unscale",
    .stage = "unscale",
    .right = "A / S",
    .wrong = "A / S²",
    .condition = "scale other than 1",
    .knob = "value",
    .source = "pytorch PR 94060",
    .laws = {"loss_scale_cancels", "clip_once_after_unscale", "unscaled_by_the_windows_scale"},
    .stages = replaced<&Stages::unscale, between_stages<stage::unscale, unscale>>,
}};

}  // namespace
}  // namespace tally::double_unscale_fault
