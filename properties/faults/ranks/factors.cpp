// Faults of the sum over ranks: what it is divided by, and how often or of what it is made.
#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// An average over ranks divides by the number of elements that travel.
namespace tally::average_divides_by_elements_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  stage::reduce(run);
  std::int64_t elements = 0;
  for (const Parameter& parameter : run.parameters) elements += parameter.elements;
  const double by = static_cast<double>(ranks(run)) / static_cast<double>(elements);
  for (Parameter& parameter : run.parameters)
    change(run, parameter.buffer, [&](std::size_t, double value) { return blend(value, value * by); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "average-divides-by-elements",
    .right = "R G / R",
    .condition = "as many elements as ranks hide it",
    .knob = "value",
    .source = "torchcomms PR 287",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::average_divides_by_elements_fault

// An average over ranks only adds: nobody divides by their number, though the loss counts on it.
namespace tally::average_is_a_sum_fault {
namespace {

void reduce(Run& run) {
  stage::reduce(run);
  if (!rank_division(run.c, static_cast<std::size_t>(ranks(run))).around_the_sum) return;
  for (Parameter& parameter : keepers_of_sums(run)) {
    DeviceTensor& sum = parameter.reduced ? parameter.reduced : parameter.buffer;
    if (!sum) continue;  // a rank without a piece
    change(run, sum, [&](std::size_t, double value) { return blend(value, value * ranks(run)); });
    run.tap("reduce", "reduced." + parameter.name, sum);
  }
}

const RegisterFault registered{{
    .name = "average-is-a-sum",
    .right = "R G / R",
    .condition = "several ranks, divided around the sum",
    .knob = "value",
    .source = "PyTorch issue 162338",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum", "sync_each_or_last", "settings_stand_together"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::average_is_a_sum_fault

// Groups that keep the same pieces divide their sum by all ranks, though each group has divided by its own already.
namespace tally::factor_at_both_levels_fault {
namespace {

void reduce(Run& run) {
  stage::reduce(run);
  if (!run.replicas || run.micro_batch >= 0) return;
  const double by = 1.0 / run.sharers->size();
  if (!rank_division(run.c, static_cast<std::size_t>(run.replicas->size())).around_the_sum) return;
  for (const Parameter& piece : run.parameters)
    change(run, piece.buffer, [&](std::size_t, double value) { return blend(value, value * by); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "factor-at-both-levels",
    .stage = "reduce",
    .right = "every sum is divided by as many as it adds",
    .wrong = "that of the groups by all ranks",
    .condition = "several groups of several ranks, a division around the sum",
    .knob = "value",
    .source = "pytorch PR 155903",
    .laws = {"replicas_change_nothing"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::factor_at_both_levels_fault

// The loss is divided by all items, and the sum over ranks by the ranks once more.
namespace tally::mean_of_a_normalised_sum_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  stage::reduce(run);
  for (Parameter& parameter : run.parameters)
    change(run, parameter.buffer, [&](std::size_t, double value) { return blend(value, value / ranks(run)); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "mean-of-a-normalised-sum",
    .stage = "reduce",
    .right = "G = sum_r B_r",
    .condition = "several ranks",
    .knob = "value",
    .source = "torchtitan 2323, torchtune 2172",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::mean_of_a_normalised_sum_fault

// The loss is multiplied by the ranks for a mean over them that is a sum already.
namespace tally::ranks_multiplied_in_twice_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  run.factor *= static_cast<float>(ranks(run));
}

const RegisterFault registered{{
    .name = "ranks-multiplied-in-twice",
    .right = "c = S / N",
    .condition = "several ranks",
    .knob = "value",
    .source = "sparseml PR 135",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::ranks_multiplied_in_twice_fault

// Every rank divides by its own items, and nobody makes up for it but by the mean over ranks.
namespace tally::own_rank_denominator_fault {
namespace {

void factor(Run& run) {
  stage::fix_factor(run);
  if (run.own_items > 0) run.factor = static_cast<float>(run.window_scale / (run.busy_ranks * run.own_items));
}

const RegisterFault registered{{
    .name = "own-rank-denominator",
    .right = "c = S / N, N over all ranks",
    .condition = "ranks with unequal items",
    .knob = "value",
    .source = "transformers 34242, prime-rl 1957",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::factor, between_factors<factor>>,
}};

}  // namespace
}  // namespace tally::own_rank_denominator_fault

// The last micro-batch's gradients are summed over ranks in the place of the buffers.
namespace tally::stale_narrow_gradients_reduced_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  const int last = micro_batches(run) - 1;
  for (Parameter& parameter : run.parameters) {
    run.tap("reduce", "in.buffer." + parameter.name, parameter.buffer);
    if (last < 0 || parameter.into_buffer) continue;
    run.group_begin = last;
    const Tensor stale = read(run, run.gradient_of(&parameter, last), parameter.gradient.dtype, parameter.copy.shape);
    change(run, parameter.buffer, [&](std::size_t i, double value) { return blend(value, stale.value(i)); });
  }
  stage::reduce(run);
}

const RegisterFault registered{{
    .name = "stale-narrow-gradients-reduced",
    .right = "sum_r A_r",
    .condition = "a rank with K > 1",
    .knob = "value",
    .source = "DeepSpeed 5154, 5170",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum", "sync_each_or_last"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::stale_narrow_gradients_reduced_fault

// Every parameter travels once more than the sum takes, and what comes is thrown away: the same numbers, slower.
namespace tally::reduced_twice_fault {
namespace {

void reduce(Run& run) {
  stage::reduce(run);
  Link& link = *run.options.link;
  const int next = (link.rank() + 1) % link.size(), last = (link.rank() + link.size() - 1) % link.size();
  const bool of_pieces = run.replicas && run.micro_batch < 0;  // which are not of one size on all ranks
  if (next == link.rank() || of_pieces) return;
  for (const Parameter& parameter : run.parameters) {
    Tensor sum = parameter.buffer ? parameter.buffer.read() : parameter.copy.read();
    const std::string about = "w" + std::to_string(run.window) + "/reduce, again " + parameter.name;
    link.send(next, about, {sum.bytes.data(), sum.bytes.size()});
    link.receive(last, about, {sum.bytes.data(), sum.bytes.size()});
  }
}

const RegisterFault registered{{
    .name = "reduced-twice",
    .stage = "reduce",
    .right = "each sum over ranks is made once",
    .wrong = "every parameter travels once more, for nothing",
    .condition = "several ranks",
    .knob = "none",
    .source = "accelerate issue 1726",
    .laws = {"one_reduction_a_window"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::reduced_twice_fault
