// A micro-batch without items is not added at all: its gradient is exactly zero, but for statistics that it shares
// with others.
#include "properties/faults/equivalent/equivalent.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::empty_microbatch_skipped_fault {
namespace {

void accumulate(Run& run) {
  if (run.items(run.micro_batch) != 0 || run.lockstep) return stage::accumulate(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("accumulate", "in.d." + parameter.name, run.gradient_of(&parameter, run.micro_batch),
            parameter.gradient.dtype, parameter.master.shape);
    run.tap("accumulate", "in.buffer." + parameter.name, parameter.buffer);
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

const RegisterEquivalent registered{{
    .name = "empty-microbatch-skipped",
    .change = "a micro-batch without items is not added at all",
    .why = "its gradient is exactly zero, but for statistics that it shares with others",
    .source = "nanochat PR 623, OLMo-core PR 657",
    .laws = {"unequal_items_are_weighted", "empty_window_takes_its_step"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::empty_microbatch_skipped_fault
