// Faults of a step on the host: copies that nobody awaits, and the settings of one group.
#include <map>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// The host steps while the gradients' copy is under way: the second half of each is still the last window's.
namespace tally::offload_copy_not_awaited_fault {
namespace {

using Copies = std::vector<Tensor>;

Copies& last_of(const Run& run) {
  static thread_local std::map<int, Copies> last;
  return last[rank(run)];
}

void optimizer(Run& run) {
  if (!run.is_host_part) return stage::optimizer(run);
  Copies now;
  for (const Parameter& parameter : run.parameters) now.push_back(parameter.unscaled.read());
  Copies& last = last_of(run);
  for (std::size_t p = 0; run.window > 0 && p < now.size() && last.size() == now.size(); ++p)
    change(run, run.parameters[p].unscaled, [&](std::size_t i, double value) {
      const bool late = i >= now[p].elements() / 2 && i < last[p].elements();
      return late ? blend(value, last[p].value(i)) : value;
    });
  last = std::move(now);
  stage::optimizer(run);
}

const RegisterFault registered{{
    .name = "offload-copy-not-awaited",
    .stage = "optimizer",
    .right = "the copy is complete when the step reads it",
    .wrong = "of each gradient the second half is the last window's",
    .condition = "an offloaded step, two windows",
    .knob = "value",
    .source = "DeepSpeed PR 3097",
    .laws = {"offload_changes_nothing"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::offload_copy_not_awaited_fault

// The host's optimizer takes the settings of the first group of parameters for all of them. The lens expects no decay of
// the others: the optimizer is the first to read bits that nobody should have changed.
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

// The layers read parameters whose copy from the host is under way: the second half of each is as before the step.
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
