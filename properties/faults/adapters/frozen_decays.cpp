// Frozen parameters decay with the others: the optimizer was given all of them.
#include "properties/faults/seeded.hpp"

namespace tally::frozen_decays_fault {
namespace {

constexpr double decay_of_a_step = 0x1p-6;

void decay(Run& run, Parameter& parameter) {
  Tensor master = parameter.master.read();
  for (std::size_t i = 0; i < master.elements(); ++i) master.set(i, master.value(i) * blend(1.0, 1 - decay_of_a_step));
  run.device.write(parameter.master.data(), master.bytes.data(), master.bytes.size());
}

void cast(Run& run) {
  for (Parameter& parameter : run.frozen)
    if (run.window > 0) decay(run, parameter);
  stage::cast(run);
}

const RegisterFault registered{{
    .name = "frozen-decays",
    .stage = "cast",
    .right = "a frozen parameter stands still",
    .wrong = "a frozen parameter becomes smaller in every step",
    .condition = "a frozen layer, two windows",
    .knob = "value",
    .source = "ahrefs/ocannl 673",
    .laws = {"frozen_keeps_its_bits"},
    .stages = replaced<&Stages::cast, cast>,
}};

}  // namespace
}  // namespace tally::frozen_decays_fault
