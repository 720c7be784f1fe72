// Groups that keep the same pieces add up what the last micro-batch brought, and each its own of the earlier ones.
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/planted_on_ranks.hpp"
#include "properties/faults/seeded.hpp"

namespace tally::earlier_partials_not_shared_fault {
namespace {

void reduce(Run& run) {
  if (!run.replicas || run.micro_batch >= 0) return stage::reduce(run);
  std::vector<Tensor> buffers, others;  // what the other groups have in front of their last micro-batch
  for (Parameter& piece : run.parameters) {
    buffers.push_back(piece.buffer.read());
    Tensor earlier = buffers.back(), last = piece.reduced.read();
    for (std::size_t i = 0; i < earlier.elements(); ++i) earlier.set(i, earlier.value(i) - last.value(i));
    Tensor all(earlier.dtype, earlier.shape);
    const auto brought = brought_by_all(*run.replicas, "earlier, " + piece.name, earlier);
    for (std::size_t other = 0; other < brought.size(); ++other)
      for (std::size_t i = 0; i < all.elements() && static_cast<int>(other) != run.replicas->rank(); ++i)
        all.set(i, all.value(i) + brought[other].value(i));
    others.push_back(std::move(all));
  }
  const RankDivision division = rank_division(run.c, static_cast<std::size_t>(run.replicas->size()));
  const double by = static_cast<double>(division.front) * static_cast<double>(division.behind);
  stage::reduce(run);
  for (std::size_t p = 0; p < others.size(); ++p)
    change(run, run.parameters[p].buffer,
           [&](std::size_t i, double value) { return blend(value, value - by * others[p].value(i)); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "earlier-partials-not-shared",
    .stage = "reduce",
    .right = "groups add up all micro-batches",
    .wrong = "the last one alone, and each its own of the others",
    .condition = "several groups that keep the same pieces, K > 1",
    .knob = "value",
    .source = "pytorch 125484, Megatron-LM 7186",
    .laws = {"replicas_change_nothing"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::earlier_partials_not_shared_fault
