// From the second window on, layers read what was put together of the parameters for the window before.
#include <map>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::gathered_weights_stale_fault {
namespace {

/// What was put together in the first window, as every rank keeps it.
std::vector<Tensor>& kept_by(const Run& run) {
  static thread_local std::map<int, std::vector<Tensor>> kept;
  return kept[rank(run)];
}

void all_gather(Run& run) {
  stage::all_gather(run);
  std::vector<Tensor>& kept = kept_by(run);
  if (run.window == 0) {
    kept.clear();
    for (const Parameter& parameter : run.parameters) kept.push_back(parameter.copy.read());
    return;
  }
  for (std::size_t p = 0; p < kept.size() && kept.size() == run.parameters.size(); ++p) {
    const Parameter& parameter = run.parameters[p];
    change(run, parameter.copy, [&](std::size_t i, double value) { return blend(value, kept[p].value(i)); });
    run.tap("all_gather", (run.behind_forward ? "again." : "") + parameter.name, parameter.copy);
  }
}

const RegisterFault registered{{
    .name = "gathered-weights-stale",
    .stage = "all_gather",
    .right = "parameters are put together behind every step",
    .wrong = "those of the first window are read again",
    .condition = "sharded parameters, the second window and later",
    .knob = "value",
    .source = "Megatron-LM 950, DeepSpeed 8486",
    .laws = {"sharding_changes_nothing"},
    .stages = replaced<&Stages::all_gather, all_gather>,
}};

}  // namespace
}  // namespace tally::gathered_weights_stale_fault
