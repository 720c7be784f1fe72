// An average over ranks divides by the number of elements that travel.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::average_divides_by_elements_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  stage::reduce(run);
  std::int64_t elements = 0;
  for (const Parameter& parameter : run.parameters) elements += parameter.elements;
  const double by = static_cast<double>(ranks(run)) / static_cast<double>(elements);
  for (Parameter& parameter : run.parameters)
    change(run, parameter.buffer, [&](std::size_t, double value) { return blend(value, value * by); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "average-divides-by-elements",
    .stage = "reduce",
    .right = "R times the mean over ranks",
    .wrong = "R times the sum over the number of elements",
    .condition = "as many elements as ranks hide it",
    .knob = "value",
    .source = "torchcomms PR 287",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::average_divides_by_elements_fault
