// The cached low-precision copy of the weights is never refreshed.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::stale_weight_cast_fault {
namespace {

void cast(Run& run) {
  if (run.window == 0) return stage::cast(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("cast", "in." + parameter.name, parameter.master);
    run.tap("cast", parameter.name, parameter.copy);
  }
}

const RegisterFault registered{{
    .name = "stale-weight-cast",
    .stage = "cast",
    .right = "recast after every step",
    .wrong = "the first cast is kept",
    .condition = "the second window and later",
    .knob = "value",
    .source = "Flow-Factory PR 186, pytorch PR 165068",
    .laws = {"decay_and_momentum_once"},
    .stages = replaced<&Stages::cast, between_stages<stage::cast, cast>>,
}};

}  // namespace
}  // namespace tally::stale_weight_cast_fault
