// The layers read parameters whose copy from the host is under way: the second half of each is as before the step.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::offloaded_update_not_awaited_fault {
namespace {

void copy_up(Run& run) {
  if (shards_optimizer(run.c) && !shards_parameters(run.c)) return stage::copy_up(run);
  std::vector<Tensor> before;
  for (const Parameter& parameter : run.parameters) before.push_back(parameter.master.read());
  stage::copy_up(run);
  for (std::size_t p = 0; p < before.size(); ++p)
    change(run, run.parameters[p].master, [&](std::size_t i, double value) {
      return i >= before[p].elements() / 2 ? blend(value, before[p].value(i)) : value;
    });
}

const RegisterFault registered{{
    .name = "offloaded-update-not-awaited",
    .stage = "cast",
    .right = "layers read what the step left",
    .wrong = "of each parameter the second half is as before the step",
    .condition = "an offloaded step, two windows",
    .knob = "value",
    .source = "DeepSpeed PR 3097",
    .laws = {"offload_changes_nothing"},
    .stages = replaced<&Stages::copy_up, copy_up>,
}};

}  // namespace
}  // namespace tally::offloaded_update_not_awaited_fault
