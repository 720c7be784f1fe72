// Every stage of a pipeline acts upon the overflow that it found, and tells no other.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::stages_skip_apart_fault {
namespace {

void agree(Run& run) {
  if (!run.pipelined() || magnitude() == 0) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "stages-skip-apart",
    .stage = "agree",
    .right = "all stages skip the step where one of them found an overflow",
    .wrong = "each stage of a pipeline acts upon its own finding",
    .condition = "a pipeline, an overflow on some stages alone",
    .knob = "none",
    .source = "fairscale PR 181",
    .laws = {"norm_spans_stages"},
    .stages = replaced<&Stages::agree, agree>,
}};

}  // namespace
}  // namespace tally::stages_skip_apart_fault
