// The last bucket is not full, and is never sent: its parameters keep each rank's own sums.
#include "kernels/ranks/buckets.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::last_bucket_not_flushed_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  std::vector<std::int64_t> sizes;
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters) {
    sizes.push_back(parameter.elements);
    own.push_back(parameter.buffer.read());
  }
  stage::reduce(run);
  const std::vector<Bucket> buckets = buckets_of(run.c, static_cast<std::size_t>(ranks(run)), sizes);
  for (const Bucket::Place& place : buckets.back().places)
    change(run, run.parameters[place.parameter].buffer,
           [&](std::size_t i, double value) { return blend(value, own[place.parameter].value(i)); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "last-bucket-not-flushed",
    .stage = "reduce",
    .right = "every bucket is summed over ranks",
    .wrong = "all but the last",
    .condition = "several ranks",
    .knob = "value",
    .source = "DeepSpeed PR 4879",
    .laws = {"ranks_agree", "ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::last_bucket_not_flushed_fault
