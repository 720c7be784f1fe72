// The numbers of ranks are added as they come, whatever order is declared.
#include "kernels/training_step/rank_totals.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::order_of_arrival_fault {
namespace {

/// Who has come to the sum of this window, first to last.
thread_local std::vector<int> came;

/// No rank comes to the sum before all have begun the window and counted its items together.
void begin_window(Run& run) {
  came.clear();
  stage::begin_window(run);
}

void reduce(Run& run) {
  if (communicates_each(run.c)) return stage::reduce(run);
  came.push_back(rank(run));
  sum_over_ranks(run, "all have come", std::int64_t{1});
  sum_otherwise(run, "as they come", [order = came](const std::vector<Tensor>& all) {
    Tensor sum = all[static_cast<std::size_t>(order.front())];
    for (std::size_t n = 1; n < order.size(); ++n) add_on_wire(sum, all[static_cast<std::size_t>(order[n])]);
    return sum;
  });
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
}  // namespace tally::order_of_arrival_fault
