// The additions of a 16-bit wire are made in fp32 and rounded once, at the end.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::sum_wider_than_the_wire_fault {
namespace {

Tensor rounded_once(const std::vector<Tensor>& all) {
  Tensor sum = all.front();
  for (std::size_t i = 0; i < sum.elements(); ++i) {
    float wide = 0;
    for (const Tensor& each : all) wide += static_cast<float>(each.value(i));
    sum.set(i, static_cast<double>(wide));
  }
  return sum;
}

void reduce(Run& run) {
  const bool narrow = wire_of(run.c) != Dtype::fp32 && !adds_in_fp32(run.c);
  if (communicates_each(run.c) || !narrow || ranks(run) < 3) return stage::reduce(run);
  sum_otherwise(run, "rounded once", rounded_once);
}

const RegisterFault registered{{
    .name = "sum-wider-than-the-wire",
    .stage = "reduce",
    .right = "every addition is rounded to the wire's format",
    .wrong = "their sum is, once",
    .condition = "three ranks or more, a wire of 16 bits",
    .knob = "elements",
    .source = "source mutation",
    .laws = {"every_wire_keeps_its_bound", "declared_order_between_ranks"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::sum_wider_than_the_wire_fault
