// The groups that each keep all pieces never add up what they have: every group trains on its own rows.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::replicas_never_meet_fault {
namespace {

void reduce(Run& run) {
  std::vector<Tensor> own;
  const bool over_replicas = run.replicas && run.micro_batch < 0;
  for (const Parameter& piece : run.parameters)
    if (over_replicas) own.push_back(piece.buffer.read());
  stage::reduce(run);
  for (std::size_t i = 0; i < own.size(); ++i)
    change(run, run.parameters[i].buffer, [&](std::size_t j, double value) { return blend(value, own[i].value(j)); });
  if (over_replicas) tap_sums(run);
}

const RegisterFault registered{{
    .name = "replicas-never-meet",
    .stage = "reduce",
    .right = "groups add up their pieces at the window's end",
    .wrong = "each keeps its own sum",
    .condition = "several groups that keep the same pieces",
    .knob = "value",
    .source = "NeMo Automodel 3135, verl 7493",
    .laws = {"replicas_change_nothing"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::replicas_never_meet_fault
