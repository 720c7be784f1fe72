// The flag of overflow is cleared by one block after another has set it: what the first parameter holds is not seen.
#include "properties/faults/seeded.hpp"

namespace tally::overflow_flag_cleared_late_fault {
namespace {

void overflow_check(Run& run) {
  stage::overflow_check(run);
  run.found_flag.zero();
  for (Parameter& parameter : run.parameters) {
    if (&parameter == &run.parameters.front()) continue;
    run.kernels.of<OverflowCheckArguments>("overflow_check")(
        run.stream,
        {parameter.buffer.dtype, parameter.buffer.data(), run.found_flag.as<std::uint32_t>(), parameter.elements});
  }
  run.found = run.found_flag.scalar<std::uint32_t>() != 0;
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "overflow-flag-cleared-late",
    .stage = "overflow_check",
    .right = "clear, then check everything",
    .wrong = "check the first parameter, clear, check the others",
    .condition = "an overflow in one parameter",
    .knob = "none",
    .source = "apex 758826fc",
    .laws = {"overflow_anywhere_is_found"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::overflow_flag_cleared_late_fault
