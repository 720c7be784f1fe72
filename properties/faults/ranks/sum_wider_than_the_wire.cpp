// The additions of a 16-bit wire are made in fp32 and rounded once, at the end.
#include "kernels/ranks/link.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

/// Of this rank's numbers and what all others hand over, in the order of the ranks.
Tensor rounded_once(Run& run, const Parameter& parameter, const Tensor& own) {
  Link& link = *run.options.link;
  const std::string about = "rounded once, " + parameter.name;
  std::vector<Tensor> all(static_cast<std::size_t>(link.size()), own);
  for (int to = 0; to < link.size(); ++to)
    if (to != link.rank()) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  for (int from = 0; from < link.size(); ++from) {
    Tensor& theirs = all[static_cast<std::size_t>(from)];
    if (from != link.rank()) link.receive(from, about, {theirs.bytes.data(), theirs.bytes.size()});
  }
  Tensor sum = own;
  for (std::size_t i = 0; i < sum.elements(); ++i) {
    float wide = 0;
    for (const Tensor& each : all) wide += static_cast<float>(each.value(i));
    sum.set(i, static_cast<double>(wide));
  }
  return sum;
}

void reduce(Run& run) {
  if (communicates_each(run.c) || wire_of(run.c) == Dtype::fp32 || ranks(run) < 3) return stage::reduce(run);
  const RankDivision division = rank_division(run.c, static_cast<std::size_t>(ranks(run)));
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters)
    own.push_back(times_constant(run, parameter.buffer.read(), division.front));
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    const Tensor sum = times_constant(run, rounded_once(run, run.parameters[p], own[p]), division.behind);
    change(run, run.parameters[p].buffer, [&](std::size_t i, double value) { return hits(i) ? sum.value(i) : value; });
  }
  tap_sums(run);
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
}  // namespace tally
