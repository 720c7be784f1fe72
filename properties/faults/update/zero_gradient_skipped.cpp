// A parameter whose gradient is zero is taken for unused: neither momentum nor decay moves it.
#include <utility>
#include <vector>

#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::zero_gradient_skipped_fault {
namespace {

bool is_zero(const Tensor& gradient) {
  for (std::size_t i = 0; i < gradient.elements(); ++i) {
    if (gradient.value(i) != 0) return false;
  }
  return true;
}

void optimizer(Run& run) {
  std::vector<std::pair<Parameter*, Tensor>> unused;
  for (Parameter& each : run.parameters) {
    if (is_zero(each.unscaled.read())) unused.emplace_back(&each, each.master.read());
  }
  stage::optimizer(run);
  for (const auto& [parameter, before] : unused) {
    change(run, parameter->master, [&](std::size_t i, double value) { return blend(value, before.value(i)); });
    run.tap("optimizer", parameter->name, parameter->master);
  }
}

const RegisterFault registered{{
    .name = "zero-gradient-skipped",
    .stage = "optimizer",
    .right = "p moves by momentum",
    .wrong = "p stays",
    .condition = "a gradient that is zero throughout, momentum",
    .knob = "value",
    .source = "pytorch 28294, PR 28883, Muon 54",
    .laws = {"empty_window_takes_its_step"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::zero_gradient_skipped_fault
