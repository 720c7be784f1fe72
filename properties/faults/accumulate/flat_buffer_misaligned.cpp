// Parameters without a gradient take no room in the flat buffer, so that all behind them shift.
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::flat_buffer_misaligned_fault {
namespace {

/// All gradients of this micro-batch that are not zero throughout, one behind the other.
std::vector<double> flat_gradients(Run& run) {
  std::vector<double> flat;
  for (Parameter& parameter : run.parameters) {
    const Tensor gradient =
        read(run, run.gradient_of(&parameter, run.micro_batch), parameter.gradient.dtype, {parameter.elements});
    bool none = true;
    for (std::size_t i = 0; i < gradient.elements(); ++i) none = none && gradient.value(i) == 0;
    for (std::size_t i = 0; i < gradient.elements() && !none; ++i) flat.push_back(gradient.value(i));
  }
  return flat;
}

void accumulate(Run& run) {
  std::vector<Tensor> before;
  for (Parameter& parameter : run.parameters) before.push_back(parameter.buffer.read());
  stage::accumulate(run);
  const std::vector<double> flat = flat_gradients(run);
  std::size_t offset = 0, next = 0;
  for (Parameter& parameter : run.parameters) {
    const Tensor& old = before[next++];
    change(run, parameter.buffer, [&](std::size_t i, double value) {
      return blend(value, old.value(i) + (offset + i < flat.size() ? flat[offset + i] : 0));
    });
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
    offset += static_cast<std::size_t>(parameter.elements);
  }
}

const RegisterFault registered{{
    .name = "flat-buffer-misaligned",
    .stage = "accumulate",
    .right = "zeros for a parameter without gradient",
    .wrong = "nothing for it",
    .condition = "a gradient that is zero throughout",
    .knob = "value",
    .source = "DeepSpeed 0178e6cc2, 545",
    .laws = {"unequal_items_are_weighted", "partition_equals_full_batch", "any_order_of_additions"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::flat_buffer_misaligned_fault
