// The loss scaler's counter goes on as it should, and is recorded nowhere.
#include <utility>

#include "properties/faults/seeded.hpp"

namespace tally::growth_counter_untapped_fault {
namespace {

void scaler(Run& run) {
  Trace before = std::exchange(run.trace, Trace{});
  stage::scaler(run);
  const Trace made = std::exchange(run.trace, std::move(before));
  for (const Tap& tap : made.taps()) {
    if (tap.name.tensor != "growth_counter") run.trace.add(tap.name, tap.value);
  }
}

const RegisterFault registered{{
    .name = "growth-counter-untapped",
    .stage = "scaler",
    .right = "every output is tapped",
    .wrong = "growth_counter is not",
    .condition = "dynamic loss scale",
    .knob = "none",
    .source = "source mutation: a tap removed",
    .laws = {"every_tap_is_there"},
    .stages = replaced<&Stages::scaler, scaler>,
}};

}  // namespace
}  // namespace tally::growth_counter_untapped_fault
