// Faults of how an overflow is found.
#include <cmath>

#include "properties/faults/seeded.hpp"

// An overflow is never found.
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
    .right = "found = any element is not finite",
    .condition = "any overflow",
    .knob = "none",
    .source = "DeepSpeed 8415",
    .laws = {"overflow_skips_the_window"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::overflow_not_checked_fault

// The flag is overwritten by every micro-batch, so only the last one counts.
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
    .right = "found = any s_k is not finite",
    .condition = "overflow in a micro-batch that is not the last",
    .knob = "none",
    .source = "pytorch amp_examples: the rule of the effective batch",
    .laws = {"overflow_skips_the_window", "overflow_anywhere_is_found", "overflows_in_a_row"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::found_inf_last_microbatch_only_fault

// The flag of overflow is cleared by one block after another has set it: what the first parameter holds is not seen.
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
    .right = "found = any parameter is not finite",
    .condition = "an overflow in one parameter",
    .knob = "none",
    .source = "apex 758826fc",
    .laws = {"overflow_anywhere_is_found"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::overflow_flag_cleared_late_fault

// A window is skipped where the sum of its gradients' squares is not finite, in the place of an element.
namespace tally::overflow_judged_by_the_norm_fault {
namespace {

void overflow_check(Run& run) {
  stage::overflow_check(run);
  float squares = 0;
  for (const Parameter& parameter : run.parameters) {
    const Tensor summed = (parameter.buffer ? parameter.buffer : parameter.gradient).read();
    for (std::size_t i = 0; i < summed.elements(); ++i)
      squares += static_cast<float>(summed.value(i)) * static_cast<float>(summed.value(i));
  }
  run.found = !std::isfinite(squares);
  run.found_flag.set_scalar<std::uint32_t>(run.found ? 1 : 0);
  run.tap("overflow_check", "found", run.found_flag.data(), Dtype::u8, {});
}

const RegisterFault registered{{
    .name = "overflow-judged-by-the-norm",
    .stage = "overflow_check",
    .right = "any element not finite",
    .wrong = "norm not finite",
    .condition = "finite gradients whose squares overflow",
    .knob = "none",
    .source = "source mutation",
    .laws = {"large_gradients_are_no_overflow"},
    .stages = replaced<&Stages::overflow_check, overflow_check>,
}};

}  // namespace
}  // namespace tally::overflow_judged_by_the_norm_fault
