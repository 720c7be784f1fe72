// What travels to the sum over ranks is rounded to another 16-bit format than the declared one first.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::other_wire_than_declared_fault {
namespace {

double rounded_otherwise(Dtype wire, double value) {
  Tensor other(wire == Dtype::bf16 ? Dtype::fp16 : Dtype::bf16, {1});
  other.set(0, value);
  return other.value(0);
}

void reduce(Run& run) {
  if (communicates_each(run.c) || ranks(run) < 2) return stage::reduce(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("reduce", "in.buffer." + parameter.name, parameter.buffer);
    change(run, parameter.buffer,
           [&](std::size_t, double value) { return blend(value, rounded_otherwise(wire_of(run.c), value)); });
  }
  stage::reduce(run);
}

const RegisterFault registered{{
    .name = "other-wire-than-declared",
    .stage = "reduce",
    .right = "gradients travel in the declared format",
    .wrong = "bf16 in place of fp32 and fp16, fp16 in place of bf16",
    .condition = "several ranks",
    .knob = "value",
    .source = "DeepSpeed 2071, 3370, pytorch 106395",
    .laws = {"every_wire_keeps_its_bound", "ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::other_wire_than_declared_fault
