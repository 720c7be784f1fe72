// The engine of a pipeline divides every loss by the micro-batches, though it is divided already.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally::pipeline_divides_again_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.pipelined()) run.factor /= static_cast<float>(micro_batches(run));
}

const RegisterFault registered{{
    .name = "pipeline-divides-again",
    .stage = "loss",
    .right = "c = scale / N",
    .wrong = "c = scale / (N K) in a pipeline",
    .condition = "a pipeline, K > 1",
    .knob = "value",
    .source = "AReaL issue 1273",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::pipeline_divides_again_fault
