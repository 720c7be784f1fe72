// The last micro-batch's gradients are summed over ranks in the place of the buffers.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::stale_narrow_gradients_reduced_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  const int last = micro_batches(run) - 1;
  for (Parameter& parameter : run.parameters) {
    run.tap("reduce", "in.buffer." + parameter.name, parameter.buffer);
    if (last < 0 || parameter.into_buffer) continue;
    run.group_begin = last;
    const Tensor stale = read(run, run.gradient_of(&parameter, last), parameter.gradient.dtype, parameter.copy.shape);
    change(run, parameter.buffer, [&](std::size_t i, double value) { return blend(value, stale.value(i)); });
  }
  stage::reduce(run);
}

const RegisterFault registered{{
    .name = "stale-narrow-gradients-reduced",
    .stage = "reduce",
    .right = "the buffers are summed over ranks",
    .wrong = "the last micro-batch's gradients are",
    .condition = "a rank with K > 1",
    .knob = "value",
    .source = "DeepSpeed 5154, 5170",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum", "sync_each_or_last"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::stale_narrow_gradients_reduced_fault
