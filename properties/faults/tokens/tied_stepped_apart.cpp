// The optimizer was given a tied weight under both of its names: it steps once for each.
#include <map>

#include "oracle/case/graph.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::tied_stepped_apart_fault {
namespace {

void optimizer(Run& run) {
  std::map<std::string, Tensor> before;
  for (const SharedParameter& shared : shared_parameters(run.c.model))
    before[shared.name] = run.parameter(shared.name).master.read();
  stage::optimizer(run);
  for (const auto& [name, old] : before) {
    Parameter& parameter = run.parameter(name);
    change(run, parameter.master,
           [&](std::size_t i, double value) { return blend(value, value + (value - old.value(i))); });
    run.record("optimizer", name, parameter.master);
  }
}

const RegisterFault registered{{
    .name = "tied-stepped-apart",
    .stage = "optimizer",
    .right = "one step of a tied weight",
    .wrong = "a step for each of its uses",
    .condition = "a tied weight",
    .knob = "value",
    .source = "paiml/entrenar 314, huggingface/peft 1750",
    .laws = {"a_tied_weight_has_both_gradients"},
    .stages = replaced<&Stages::optimizer, optimizer>,
}};

}  // namespace
}  // namespace tally::tied_stepped_apart_fault
