// The padding of buckets is taken off where a checkpoint is written, and left in the offsets at which it is read:
// behind the first bucket each element comes from further on, and the last ones are zero.
#include "properties/faults/ranks/planted_on_checkpoint.hpp"

namespace tally::checkpoint_offset_after_first_bucket_fault {
namespace {

/// All elements of one kind, bucket by bucket, as they are written.
std::vector<double> flat(const Run& run, const Checkpoint& from, const std::string& kind) {
  std::vector<double> all;
  for (const Bucket& bucket : buckets_of_run(run))
    for (const Bucket::Place& place : bucket.places) {
      const Tensor& tensor = from.tensors.at(kind + run.parameters[place.parameter].name);
      for (std::size_t i = 0; i < tensor.elements(); ++i) all.push_back(tensor.value(i));
    }
  return all;
}

void load_checkpoint(Run& run, const Checkpoint& from) {
  Checkpoint misplaced = from;
  for (const std::string& kind : kinds_of(run, from)) {
    const std::vector<double> written = flat(run, from, kind);
    std::int64_t at = 0, padding = 0;  // in front
    for (const Bucket& bucket : buckets_of_run(run)) {
      for (const Bucket::Place& place : bucket.places) {
        Tensor& tensor = misplaced.tensors.at(kind + run.parameters[place.parameter].name);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(tensor.elements()); ++i, ++at) {
          const auto read = static_cast<std::size_t>(at + padding);
          misread(tensor, i, read < written.size() ? written[read] : 0);
        }
      }
      padding += bucket.elements - held_by(run, bucket);
    }
  }
  stage::load_checkpoint(run, misplaced);
}

const RegisterFault registered{{
    .name = "checkpoint-offset-after-first-bucket",
    .stage = "checkpoint",
    .right = "every bucket is read at its elements' offset",
    .wrong = "at that of the padded buckets in front, and zeros behind the end",
    .condition = "the number of ranks changes; a bucket behind one with padding",
    .knob = "value",
    .source = "Megatron-LM 5077",
    .laws = {"ranks_may_change"},
    .stages = replaced_load<load_checkpoint>,
}};

}  // namespace
}  // namespace tally::checkpoint_offset_after_first_bucket_fault
