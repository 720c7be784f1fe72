// The optimizer updates bf16 parameters: what is below half a unit of their last place is lost.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::update_lost_in_bf16_fault {
namespace {

void optimizer(Run& run) {
  stage::optimizer(run);
  Tensor narrow(Dtype::bf16, {1});
  for (Parameter& each : run.parameters) {
    change(run, each.master, [&](std::size_t, double value) {
      narrow.set(0, value);
      return blend(value, narrow.value(0));
    });
    run.tap("optimizer", each.name, each.master);
  }
}

const RegisterFault registered{{
    .name = "update-lost-in-bf16",
    .stage = "optimizer",
    .right = "fp32 master parameters",
    .wrong = "bf16 parameters",
    .condition = "any step",
    .knob = "value",
    .source = "ao PR 1124, tt-metal PR 15518",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::update_lost_in_bf16_fault
