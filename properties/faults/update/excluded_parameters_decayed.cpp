// Every parameter decays, whatever the recipe excludes. The lens expects nothing of that stage there: the optimizer is
// the first to read bits that nobody should have changed.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::excluded_parameters_decayed_fault {
namespace {

void decay(Run& run) {
  for (Parameter& parameter : run.parameters) parameter.decays = true;
  stage::decay(run);
}

const RegisterFault registered{{
    .name = "excluded-parameters-decayed",
    .stage = "optimizer",
    .right = "p unchanged for p excluded",
    .wrong = "p decays",
    .condition = "an excluded parameter that is not 0",
    .knob = "value",
    .source = "source mutation: a condition negated",
    .laws = {"excluded_parameters_do_not_decay"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::excluded_parameters_decayed_fault
