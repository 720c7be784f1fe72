// The numbers of ranks are added as they come, whatever order is declared.
#include "kernels/training_step/rank_totals.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {

/// Who has come to the sum of this window, first to last.
thread_local std::vector<int> came;

/// No rank comes to the sum before all have begun the window and counted its items together.
void begin_window(Run& run) {
  came.clear();
  stage::begin_window(run);
}

Tensor summed(Run& run, const Parameter& parameter, const Tensor& own, const std::vector<int>& order) {
  Link& link = *run.options.link;
  const std::string about = "as they come, " + parameter.name;
  std::vector<Tensor> all(static_cast<std::size_t>(link.size()), own);
  for (int to = 0; to < link.size(); ++to)
    if (to != link.rank()) link.send(to, about, {own.bytes.data(), own.bytes.size()});
  for (int from = 0; from < link.size(); ++from) {
    Tensor& theirs = all[static_cast<std::size_t>(from)];
    if (from != link.rank()) link.receive(from, about, {theirs.bytes.data(), theirs.bytes.size()});
  }
  Tensor sum = all[static_cast<std::size_t>(order.front())];
  for (std::size_t n = 1; n < order.size(); ++n) {
    const Tensor& next = all[static_cast<std::size_t>(order[n])];
    for (std::size_t i = 0; i < sum.elements(); ++i)
      sum.set(i, static_cast<double>(static_cast<float>(sum.value(i)) + static_cast<float>(next.value(i))));
  }
  return sum;
}

void reduce(Run& run) {
  if (communicates_each(run.c)) return stage::reduce(run);
  const RankDivision division = rank_division(run.c, static_cast<std::size_t>(ranks(run)));
  came.push_back(rank(run));
  sum_over_ranks(run, "all have come", std::int64_t{1});
  const std::vector<int> order = came;
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters)
    own.push_back(times_constant(run, parameter.buffer.read(), division.front));
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    const Tensor sum = times_constant(run, summed(run, run.parameters[p], own[p], order), division.behind);
    change(run, run.parameters[p].buffer, [&](std::size_t i, double value) { return hits(i) ? sum.value(i) : value; });
  }
  tap_sums(run);
}

const Stages& stages() {
  static const Stages all = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.reduce = reduce;
    return copy;
  }();
  return all;
}

const RegisterFault registered{{
    .name = "order-of-arrival",
    .stage = "reduce",
    .right = "the declared order of addition",
    .wrong = "the order in which ranks come",
    .condition = "a drawn arrival",
    .knob = "elements",
    .source = "ompi 12258: which order a library takes is not declared",
    .laws = {"arrival_changes_nothing", "declared_order_between_ranks"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally
