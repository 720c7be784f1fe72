// Every rank adds the others' numbers to its own, so that each has another order, and other bits.
#include "kernels/ranks/all_reduce.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

/// Of this rank's numbers and what all others hand over, in fp32 rounded to the wire's format.
Tensor own_first(Run& run, const Parameter& parameter, const Tensor& own) {
  Link& link = *run.options.link;
  Tensor sum = own, other = own;
  const std::string about = "own first, " + parameter.name;
  for (int to = 0; to < link.size(); ++to)
    if (to != link.rank()) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  for (int behind = 1; behind < link.size(); ++behind) {
    link.receive((link.rank() + behind) % link.size(), about, {other.bytes.data(), other.bytes.size()});
    for (std::size_t i = 0; i < sum.elements(); ++i)
      sum.set(i, static_cast<double>(static_cast<float>(sum.value(i)) + static_cast<float>(other.value(i))));
  }
  return sum;
}

void reduce(Run& run) {
  if (communicates_each(run.c)) return stage::reduce(run);
  const RankDivision division = rank_division(run.c, static_cast<std::size_t>(ranks(run)));
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters)
    own.push_back(times_constant(run, parameter.buffer.read(), division.front));
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    const Tensor sum = times_constant(run, own_first(run, run.parameters[p], own[p]), division.behind);
    change(run, run.parameters[p].buffer, [&](std::size_t i, double value) { return hits(i) ? sum.value(i) : value; });
  }
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "own-value-first",
    .stage = "reduce",
    .right = "one order of addition on all ranks",
    .wrong = "each rank's own number first",
    .condition = "three ranks or more",
    .knob = "elements",
    .source = "mpich PR 6538, ompi 12258",
    .laws = {"declared_order_between_ranks", "ranks_agree"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally
