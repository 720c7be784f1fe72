// Faults of the sum over ranks: in which order and format it is made.
#include "kernels/training_step/ranks/rank_totals.hpp"
#include "oracle/case/ranks.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// The numbers of ranks are added as they come, whatever order is declared.
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

// Every rank adds the others' numbers to its own, so that each has another order, and other bits.
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

// A sum that is declared to be made in fp32 is rounded to the wire's 16 bits behind every addition.
namespace tally::sum_rounded_at_every_rank_fault {
namespace {

Tensor rounded_each(const std::vector<Tensor>& all) {
  Tensor sum = all.front();
  for (std::size_t rank = 1; rank < all.size(); ++rank) add_on_wire(sum, all[rank]);
  return sum;
}

void reduce(Run& run) {
  if (communicates_each(run.c) || !adds_in_fp32(run.c) || ranks(run) < 3) return stage::reduce(run);
  sum_otherwise(run, "rounded at every rank", rounded_each);
}

const RegisterFault registered{{
    .name = "sum-rounded-at-every-rank",
    .stage = "reduce",
    .right = "additions are made in fp32, and their sum is rounded",
    .wrong = "every addition is",
    .condition = "three ranks or more, additions declared in fp32",
    .knob = "elements",
    .source = "source mutation",
    .laws = {"every_wire_keeps_its_bound"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::sum_rounded_at_every_rank_fault

// The additions of a 16-bit wire are made in fp32 and rounded once, at the end.
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

// What travels to the sum over ranks is rounded to another 16-bit format than the declared one first.
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
