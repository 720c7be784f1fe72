// The flag is overwritten by every micro-batch, so only the last one counts.
#include "properties/faults/seeded.hpp"

namespace tally::found_inf_last_microbatch_only_fault {
namespace {

void overflow_check(Run& run) {
  // The last micro-batch's gradient: behind the others where all are alive at once, else in the only slot.
  const std::int64_t slot = run.lockstep ? micro_batches(run) - 1 : 0;
  for (Parameter& parameter : run.parameters) {
    run.tap("overflow_check", "in.buffer." + parameter.name, parameter.buffer);
    run.kernels.of<OverflowCheckArguments>("overflow_check")(
        run.stream, {parameter.gradient.dtype, parameter.gradient.row(slot), run.found_flag.as<std::uint32_t>(),
                     parameter.elements});
  }
  run.found = run.found_flag.scalar<std::uint32_t>() != 0;
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "found-inf-last-microbatch-only",
    .stage = "overflow_check",
    .right = "overflow in any micro-batch",
    .wrong = "overflow in the last micro-batch",
    .condition = "overflow in a micro-batch that is not the last",
    .knob = "none",
    .source = "pytorch amp_examples: the rule of the effective batch",
    .laws = {"overflow_skips_the_window", "overflow_anywhere_is_found", "overflows_in_a_row"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::found_inf_last_microbatch_only_fault
