// The weight and bias of norms keep only the last micro-batch.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bn_affine_gradient_last_only_fault {
namespace {

void accumulate(Run& run) {
  for (Parameter& parameter : run.parameters) {
    if (parameter.name.starts_with("norm")) fade(run, parameter.buffer);
  }
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "bn-affine-gradient-last-only",
    .stage = "accumulate",
    .right = "norm gradients add up",
    .wrong = "norm gradients overwrite",
    .condition = "K > 1 and a norm with weight and bias",
    .knob = "value",
    .source = "mxnet 18499",
    .laws = {"batch_norm_keeps_its_definition", "layer_norm_leaves_no_gap"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::bn_affine_gradient_last_only_fault
