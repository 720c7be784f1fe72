// The host steps while the gradients' copy is under way: the second half of each is still the last window's.
#include <map>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

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
