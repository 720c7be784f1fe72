// Every other rank puts its parameters into their buckets the other way round.
#include "kernels/training_step/stages.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::bucket_order_differs_fault {
namespace {

/// The buffers' numbers side by side, as one sequence, backwards where this rank has them so.
std::vector<double> flat(Run& run, bool backwards) {
  std::vector<double> all;
  for (std::size_t i = 0; i < run.parameters.size(); ++i) {
    const Tensor values = run.parameters[backwards ? run.parameters.size() - 1 - i : i].buffer.read();
    for (std::size_t j = 0; j < values.elements(); ++j) all.push_back(values.value(j));
  }
  return all;
}

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "in.buffer." + parameter.name, parameter.buffer);
  const bool odd = rank(run) % 2 == 1;
  const std::vector<double> right = flat(run, false), wrong = flat(run, true);
  std::size_t next = 0;
  for (Parameter& parameter : run.parameters)
    change(run, parameter.buffer, [&](std::size_t, double value) {
      const std::size_t here = next++;
      return odd ? blend(value, wrong[here]) : value;
    });
  stage::reduce(run);
}

const RegisterFault registered{{
    .name = "bucket-order-differs",
    .stage = "reduce",
    .right = "one order of parameters on all ranks",
    .wrong = "every other rank has them the other way round",
    .condition = "several parameters",
    .knob = "value",
    .source = "DeepSpeed 2343, pytorch 64629",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::bucket_order_differs_fault
