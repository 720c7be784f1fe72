// The loss is divided by all items, and the sum over ranks by the ranks once more.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::mean_of_a_normalised_sum_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  stage::reduce(run);
  for (Parameter& parameter : run.parameters)
    change(run, parameter.buffer, [&](std::size_t, double value) { return blend(value, value / ranks(run)); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "mean-of-a-normalised-sum",
    .stage = "reduce",
    .right = "G = sum_r B_r",
    .wrong = "G / R",
    .condition = "several ranks",
    .knob = "value",
    .source = "torchtitan 2323, torchtune 2172",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::mean_of_a_normalised_sum_fault
