// An overflow is never found.
#include "properties/faults/seeded.hpp"

namespace tally::overflow_not_checked_fault {
namespace {

void overflow_check(Run& run) {
  stage::overflow_check(run);
  run.found = false;
  run.found_flag.zero();
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "overflow-not-checked",
    .stage = "overflow_check",
    .right = "skip when not finite",
    .wrong = "never skip",
    .condition = "any overflow",
    .knob = "none",
    .source = "DeepSpeed 8415",
    .laws = {"overflow_skips_the_window"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::overflow_not_checked_fault
