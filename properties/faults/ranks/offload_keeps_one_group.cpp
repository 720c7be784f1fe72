// The host's optimizer takes the settings of the first group of parameters for all of them. The lens expects no decay of
// the others: the optimizer is the first to read bits that nobody should have changed.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::offload_keeps_one_group_fault {
namespace {

void decay(Run& run) {
  if (!run.is_host_part) return stage::decay(run);
  std::vector<bool> own;
  for (Parameter& parameter : run.parameters) {
    own.push_back(parameter.decays);
    parameter.decays = true;
  }
  stage::decay(run);
  for (std::size_t p = 0; p < own.size(); ++p) run.parameters[p].decays = own[p];
}

const RegisterFault registered{{
    .name = "offload-keeps-one-group",
    .stage = "optimizer",
    .right = "excluded parameters do not decay",
    .wrong = "all decay, as the first group does",
    .condition = "an offloaded step, weight decay that excludes parameters",
    .knob = "value",
    .source = "DeepSpeed 7906",
    .laws = {"offload_changes_nothing"},
    .stages = replaced<&Stages::decay, between_stages<stage::decay, decay>>,
}};

}  // namespace
}  // namespace tally::offload_keeps_one_group_fault
