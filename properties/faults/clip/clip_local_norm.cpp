// The norm is taken over the first parameter only.
#include "properties/faults/planted_norm.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::clip_local_norm_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  const Parameter& first = run.parameters.front();
  norm_over(run, {{first.unscaled.as<float>(), first.elements}}, NormKind::two);
}

const RegisterFault registered{{
    .name = "clip-local-norm",
    .stage = "norm",
    .right = "one norm over all parameters",
    .wrong = "the norm of one shard",
    .condition = "an active clip, several parameters",
    .knob = "value",
    .source = "pytorch 72548, torchtitan 596",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::clip_local_norm_fault
