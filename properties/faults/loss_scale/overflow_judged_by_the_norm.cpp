// A window is skipped where the sum of its gradients' squares is not finite, in the place of an element.
#include <cmath>

#include "properties/faults/seeded.hpp"

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
