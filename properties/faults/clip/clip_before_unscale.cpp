// The norm that clips is the norm of the scaled gradient.
#include <vector>

#include "properties/faults/planted_norm.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::clip_before_unscale_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  std::vector<NormSource> scaled;
  for (Parameter& parameter : run.parameters) {
    if (!parameter.buffer || parameter.buffer.dtype != Dtype::fp32) return;  // the kernel reads fp32
    scaled.push_back({parameter.buffer.as<float>(), parameter.elements});
  }
  norm_over(run, scaled, NormKind::two);
}

const RegisterFault registered{{
    .name = "clip-before-unscale",
    .stage = "norm",
    .right = "norm of A / S",
    .wrong = "norm of A",
    .condition = "an active clip, scale other than 1",
    .knob = "value",
    .source = "Lightning 9330, returnn 1590",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::clip_before_unscale_fault
