// Faults of the optimizer: its momentum and moments, and which parameters move.
#include <utility>
#include <vector>

#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

// The stage is left out, and its taps with it: nothing of it is in the trace.
namespace tally::optimizer_not_run_fault {
namespace {

void nothing(Run&) {}

const RegisterFault registered{{
    .name = "optimizer-not-run",
    .bug = "stage-not-run",
    .stage = "optimizer",
    .right = "p - lr step",
    .wrong = "nothing, no tap",
    .condition = "always",
    .knob = "none",
    .source = "source mutation: the call removed",
    .laws = {"decay_and_momentum_once", "every_window_takes_its_step"},
    .stages = replaced<&Stages::optimizer, nothing>,
}};

}  // namespace
}  // namespace tally::optimizer_not_run_fault

// The first step, which has no buffer yet, is dampened like all others.
namespace tally::dampening_on_first_step_fault {
namespace {

void around(Stream& stream, SgdArguments arguments, Kernel<SgdArguments> shipped) {
  if (arguments.first && magnitude() > 0) {
    arguments.first = false;  // the buffer holds zeros
    arguments.one_minus_dampening = blend(1.0f, arguments.one_minus_dampening);
  }
  shipped(stream, arguments);
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("sgd", "grid_stride", "dampening-on-first-step");
  return stages;
}

const RegisterFault registered{{
    .name = "dampening-on-first-step",
    .right = "v = g at the first step",
    .condition = "momentum with dampening, the first step",
    .knob = "value",
    .source = "PyTorch SGD: the first buffer is the gradient",
    .laws = {"momentum_begins_with_the_gradient"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::dampening_on_first_step_fault

// A run that goes on from a checkpoint starts with empty momentum and moments.
namespace tally::moments_not_restored_fault {
namespace {

void begin_window(Run& run) {
  for (Parameter& parameter : run.parameters) {
    for (KeptState& kept : parameter.state)
      if (run.window == 0 && run.c.tensors.contains(kept.of->name + "." + parameter.name)) kept.tensor.zero();
  }
  stage::begin_window(run);
}

const RegisterFault registered{{
    .name = "moments-not-restored",
    .stage = "optimizer",
    .right = "momentum and moments of the checkpoint",
    .wrong = "zeros",
    .condition = "a start in the middle of training",
    .knob = "none",
    .source = "source mutation",
    .laws = {"state_is_taken_over", "resumes_bitwise"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::moments_not_restored_fault

// The coefficient of momentum stands at the wrong term.
namespace tally::momentum_on_the_gradient_fault {
namespace {

void around(Stream& stream, SgdArguments arguments, Kernel<SgdArguments> shipped) {
  if (arguments.momentum != nullptr && !arguments.first) {
    arguments.one_minus_dampening = blend(arguments.one_minus_dampening, arguments.mu);
    arguments.mu = blend(arguments.mu, 1.0f);
  }
  shipped(stream, arguments);
}

const Stages& faulty() {
  static const Stages stages = with_kernel_around<around>("sgd", "grid_stride", "momentum-on-the-gradient");
  return stages;
}

const RegisterFault registered{{
    .name = "momentum-on-the-gradient",
    .right = "v = μ v + g",
    .condition = "momentum, the second step and later",
    .knob = "value",
    .source = "AiDotNet 2008, pytorch_optimizer PR 516",
    .laws = {"decay_and_momentum_once", "momentum_begins_with_the_gradient"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::momentum_on_the_gradient_fault

// The momentum buffer is cleared before every step.
namespace tally::momentum_reset_each_step_fault {
namespace {

void optimizer(Run& run) {
  for (Parameter& parameter : run.parameters) {
    if (!parameter.state.empty() && parameter.state[0].of->name == "momentum") fade(run, parameter.state[0].tensor);
  }
  stage::optimizer(run);
}

const RegisterFault registered{{
    .name = "momentum-reset-each-step",
    .right = "m = m of the step before",
    .condition = "the second step and later, momentum",
    .knob = "value",
    .source = "pytorch_optimizer PR 516",
    .laws = {"decay_and_momentum_once", "resumes_bitwise"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::momentum_reset_each_step_fault

// A parameter whose gradient is zero is taken for unused: neither momentum nor decay moves it.
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
    .right = "p moves by momentum where g = 0",
    .condition = "a gradient that is zero throughout, momentum",
    .knob = "value",
    .source = "pytorch 28294, PR 28883, Muon 54",
    .laws = {"empty_window_takes_its_step"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::zero_gradient_skipped_fault
