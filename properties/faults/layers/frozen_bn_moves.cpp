// Running values of a frozen BatchNorm are updated all the same.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::frozen_bn_moves_fault {
namespace {

void running_stats(Run& run) {
  stage::running_stats(run);
  for (LayerState& layer : run.layers) {
    if (!layer.frozen) continue;
    change(run, layer.running_mean, [](std::size_t, double value) { return blend(value, value + 1); });
  }
}

const RegisterFault registered{{
    .name = "frozen-bn-moves",
    .stage = "forward",
    .right = "frozen values stay",
    .wrong = "r + m (v - r)",
    .condition = "frozen statistics",
    .knob = "value",
    .source = "fairscale 1035: updates that depend on the mode",
    .laws = {"frozen_batch_norm_stays"},
    .stages = replaced<&Stages::running_stats, running_stats>,
}};

}  // namespace
}  // namespace tally::frozen_bn_moves_fault
