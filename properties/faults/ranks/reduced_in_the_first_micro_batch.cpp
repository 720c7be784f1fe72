// The buffers are summed over ranks once, as they were behind the first micro-batch; what came later stays the rank's
// own.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::reduced_in_the_first_micro_batch_fault {
namespace {

/// What each parameter's buffer held behind the rank's first micro-batch, by the run's own tap.
const Tensor* behind_first(const Run& run, const Parameter& parameter) {
  return run.trace.find(TapView{run.window, 0, "accumulate", "buffer." + parameter.name, run.rank_tag});
}

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  std::vector<Tensor> own;
  for (Parameter& parameter : run.parameters) {
    own.push_back(parameter.buffer.read());
    const Tensor* first = behind_first(run, parameter);
    if (first != nullptr)
      change(run, parameter.buffer, [&](std::size_t i, double value) { return blend(value, first->value(i)); });
  }
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    Parameter& parameter = run.parameters[p];
    const Tensor* first = behind_first(run, parameter);
    if (first == nullptr) continue;
    change(run, parameter.buffer,
           [&](std::size_t i, double value) { return blend(value, value + (own[p].value(i) - first->value(i))); });
  }
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "reduced-in-the-first-micro-batch",
    .stage = "reduce",
    .right = "the sum over ranks of what all micro-batches left",
    .wrong = "of what the first left; each rank adds the rest of its own",
    .condition = "a rank with K > 1",
    .knob = "value",
    .source = "InfiniTrain PR 213, FunASR PR 3472",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::reduced_in_the_first_micro_batch_fault
