// The divisor counts every process as one that has data of its own, the stages of one pipeline too.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally::all_processes_taken_for_data_ranks_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.pipelined() && run.options.link->size() > 1) run.factor /= static_cast<float>(run.options.pipe->size());
}

const RegisterFault registered{{
    .name = "all-processes-taken-for-data-ranks",
    .stage = "loss",
    .right = "c = scale / N: R ranks have data of their own, whatever they are cut into",
    .wrong = "c = scale / (N P), as if the R P processes had",
    .condition = "a pipeline on each of several ranks",
    .knob = "value",
    .source = "transformers issue 39648, TRL issue 7100, Megatron-LM issue 673",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::all_processes_taken_for_data_ranks_fault
