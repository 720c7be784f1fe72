// Elements are loaded until as many were counted as there are, and a bucket's padding counts as well: its last
// elements, as many as it is padded by, stay what the rank was built with.
#include "properties/faults/ranks/planted_on_checkpoint.hpp"

namespace tally::padding_counted_as_loaded_fault {
namespace {

/// What a rank is built with: the case's tensor, or zeros.
double built_with(const Run& run, const std::string& name, std::int64_t i) {
  const auto given = run.c.tensors.find(name);
  return given == run.c.tensors.end() ? 0 : given->second.value(static_cast<std::size_t>(i));
}

void load_checkpoint(Run& run, const Checkpoint& from) {
  Checkpoint partly = from;
  for (const std::string& kind : kinds_of(run, from)) {
    for (const Bucket& bucket : buckets_of_run(run)) {
      const std::int64_t held = held_by(run, bucket), loaded = held - (bucket.elements - held);
      for (const Bucket::Place& place : bucket.places) {
        const std::string name = kind + run.parameters[place.parameter].name;
        Tensor& tensor = partly.tensors.at(name);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(tensor.elements()); ++i)
          if (place.first + i >= loaded) misread(tensor, i, built_with(run, name, i));
      }
    }
  }
  stage::load_checkpoint(run, partly);
}

const RegisterFault registered{{
    .name = "padding-counted-as-loaded",
    .stage = "checkpoint",
    .right = "as many elements are loaded as there are",
    .wrong = "as many fewer as their bucket is padded by",
    .condition = "the number of ranks changes; a bucket with padding",
    .knob = "value",
    .source = "Fast-LLM 439",
    .laws = {"ranks_may_change"},
    .stages = replaced_load<load_checkpoint>,
}};

}  // namespace
}  // namespace tally::padding_counted_as_loaded_fault
