// The norm is taken over the first parameter only.
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

void norm(Run& run) {
  stage::norm(run);
  const Parameter& first = run.parameters.front();
  const NormSource only{first.unscaled.as<float>(), first.elements};
  run.kernels.norm(run.stream,
                   {NormKind::two, {&only, 1}, run.norm_partials.as<float>(), run.gradient_norm.as<float>()});
  run.tap("norm", "norm", run.gradient_norm);
}

const RegisterFault registered{{
    .name = "clip-local-norm",
    .stage = "norm",
    .right = "one norm over all parameters",
    .wrong = "the norm of one shard",
    .condition = "an active clip, several parameters",
    .source = "pytorch 72548, torchtitan 596",
    .laws = {"clip_once_after_unscale"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally
