// Every rank adds the others' numbers to its own, so that each has another order, and other bits.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::own_value_first_fault {
namespace {

void reduce(Run& run) {
  if (communicates_each(run.c)) return stage::reduce(run);
  sum_otherwise(run, "own first", [own = rank(run)](const std::vector<Tensor>& all) {
    Tensor sum = all[static_cast<std::size_t>(own)];
    for (std::size_t behind = 1; behind < all.size(); ++behind)
      add_on_wire(sum, all[(static_cast<std::size_t>(own) + behind) % all.size()]);
    return sum;
  });
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
}  // namespace tally::own_value_first_fault
