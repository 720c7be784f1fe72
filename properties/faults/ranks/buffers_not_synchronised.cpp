// No rank takes the first one's running values: each goes on with those that its own micro-batches moved.
#include "oracle/case/running_values.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::buffers_not_synchronised_fault {
namespace {

/// As they were, in the place of what the first rank handed over.
void keep_own(Run& run, const std::string& name, const DeviceTensor& values, const Tensor& own) {
  change(run, values, [&](std::size_t i, double value) { return blend(value, own.value(i)); });
  run.tap("running_stats", "broadcast." + name, values);
}

void begin_window(Run& run) {
  std::vector<Tensor> mean, var;
  for (const LayerState& layer : run.layers) {
    const bool handed = takes_first_running(run.c, *layer.layer);
    mean.push_back(handed ? layer.running_mean.read() : Tensor());
    var.push_back(handed ? layer.running_var.read() : Tensor());
  }
  stage::begin_window(run);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const LayerState& layer = run.layers[i];
    if (!takes_first_running(run.c, *layer.layer)) continue;
    keep_own(run, layer.label + ".running_mean", layer.running_mean, mean[i]);
    keep_own(run, layer.label + ".running_var", layer.running_var, var[i]);
  }
}

const RegisterFault registered{{
    .name = "buffers-not-synchronised",
    .stage = "running_stats",
    .right = "every rank begins a window with the first rank's running values",
    .wrong = "each with its own",
    .condition = "several ranks and windows, batch norm that moves with each micro-batch, running of the first rank",
    .knob = "value",
    .source = "pytorch 111138",
    .laws = {"ranks_agree"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::buffers_not_synchronised_fault
