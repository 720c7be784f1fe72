// The path of a pipeline leaves out the division of the loss.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/planted_between.hpp"

namespace tally::pipeline_never_divides_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.pipelined()) run.factor = run.window_scale;
}

const RegisterFault registered{{
    .name = "pipeline-never-divides",
    .stage = "loss",
    .right = "c = scale / N",
    .wrong = "c = scale in a pipeline",
    .condition = "a pipeline",
    .knob = "value",
    .source = "torchtitan issue 2972, DeepSpeed issue 7773",
    .laws = {"pipeline_changes_nothing"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::pipeline_never_divides_fault
