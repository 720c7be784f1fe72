// The record of a run names the training without its partition: whoever reads it takes it for another run.
#include "oracle/case/io.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::trace_of_the_full_batch_fault {
namespace {

void end_window(Run& run) {
  stage::end_window(run);
  run.trace.case_hash = hash_of(full_batch_of(run.c));
}

const RegisterFault registered{{
    .name = "trace-of-the-full-batch",
    .stage = "forward",
    .right = "name of the case",
    .wrong = "name of its full batch",
    .condition = "more than one micro-batch",
    .knob = "none",
    .source = "source mutation: a name kept from the case before",
    .laws = {"trace_says_what_ran"},
    .stages = replaced<&Stages::end_window, end_window>,
}};

}  // namespace
}  // namespace tally::trace_of_the_full_batch_fault
