// A stage that found an overflow skips the window's end by itself, and the others wait for its word.
#include "properties/faults/pipeline/planted_on_stages.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::collective_left_out_on_overflow_fault {
namespace {

void agree(Run& run) {
  if (!run.pipelined() || !run.found || magnitude() == 0) return stage::agree(run);
  run.tap("agree", "in.found", run.found_flag.data(), Dtype::u8, {});
  run.tap("agree", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "collective-left-out-on-overflow",
    .stage = "agree",
    .right = "every stage takes part in what all find together",
    .wrong = "a stage of a pipeline that found an overflow leaves, and the others wait for it",
    .condition = "a pipeline, an overflow on some stages alone",
    .knob = "none",
    .source = "ColossalAI issue 1175",
    .laws = {"norm_spans_stages"},
    .stages = replaced<&Stages::agree, agree>,
}};

}  // namespace
}  // namespace tally::collective_left_out_on_overflow_fault
