// Faults of the sum over ranks: whose numbers it holds.
#include "kernels/ranks/buckets.hpp"
#include "kernels/training_step/stages.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// Every other rank puts its parameters into their buckets the other way round.
namespace tally::bucket_order_differs_fault {
namespace {

/// The buffers' numbers side by side, as one sequence, backwards where this rank has them so.
std::vector<double> flat(Run& run, bool backwards) {
  std::vector<double> all;
  for (std::size_t i = 0; i < run.parameters.size(); ++i) {
    const Tensor values = run.parameters[backwards ? run.parameters.size() - 1 - i : i].buffer.read();
    for (std::size_t j = 0; j < values.elements(); ++j) all.push_back(values.value(j));
  }
  return all;
}

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  for (const Parameter& parameter : run.parameters) run.tap("reduce", "in.buffer." + parameter.name, parameter.buffer);
  const bool odd = rank(run) % 2 == 1;
  const std::vector<double> right = flat(run, false), wrong = flat(run, true);
  std::size_t next = 0;
  for (Parameter& parameter : run.parameters)
    change(run, parameter.buffer, [&](std::size_t, double value) {
      const std::size_t here = next++;
      return odd ? blend(value, wrong[here]) : value;
    });
  stage::reduce(run);
}

const RegisterFault registered{{
    .name = "bucket-order-differs",
    .stage = "reduce",
    .right = "one order of parameters on all ranks",
    .wrong = "every other rank has them the other way round",
    .condition = "several parameters",
    .knob = "value",
    .source = "DeepSpeed 2343, pytorch 64629",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::bucket_order_differs_fault

// Groups that keep the same pieces add up what the last micro-batch brought, and each its own of the earlier ones.
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

// Where all ranks should add up, the first one's numbers go to all.
namespace tally::first_rank_broadcast_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  sum_otherwise(run, "a broadcast", [](const std::vector<Tensor>& all) { return all.front(); });
}

const RegisterFault registered{{
    .name = "first-rank-broadcast",
    .right = "Σ over ranks of x_r",
    .wrong = "x_0, on every rank",
    .condition = "several ranks",
    .knob = "elements",
    .source = "source mutation",
    .laws = {"ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::first_rank_broadcast_fault

// The last bucket is not full, and is never sent: its parameters keep each rank's own sums.
namespace tally::last_bucket_not_flushed_fault {
namespace {

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  std::vector<std::int64_t> sizes;
  std::vector<Tensor> own;
  for (const Parameter& parameter : run.parameters) {
    sizes.push_back(parameter.elements);
    own.push_back(parameter.buffer.read());
  }
  stage::reduce(run);
  const std::vector<Bucket> buckets = buckets_of(run.c, static_cast<std::size_t>(ranks(run)), sizes);
  for (const Bucket::Place& place : buckets.back().places)
    change(run, run.parameters[place.parameter].buffer,
           [&](std::size_t i, double value) { return blend(value, own[place.parameter].value(i)); });
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "last-bucket-not-flushed",
    .right = "every bucket is summed over ranks",
    .wrong = "all but the last",
    .condition = "several ranks",
    .knob = "value",
    .source = "DeepSpeed PR 4879",
    .laws = {"ranks_agree", "ranks_equal_full_batch"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::last_bucket_not_flushed_fault

// The buffers are summed over ranks once, as they were behind the first micro-batch; what came later stays the rank's
// own.
namespace tally::reduced_in_the_first_micro_batch_fault {
namespace {

/// What each parameter's buffer held behind the rank's first micro-batch, by the run's own tap.
const Tensor* behind_first(const Run& run, const Parameter& parameter) {
  return run.trace.find(TapView{run.window, 0, "accumulate", "buffer." + parameter.name, run.rank_tag});
}

void reduce(Run& run) {
  if (!sums_buffers_alone(run)) return stage::reduce(run);
  std::vector<Tensor> own;
  for (Parameter& parameter : run.parameters) {
    own.push_back(parameter.buffer.read());
    const Tensor* first = behind_first(run, parameter);
    if (first != nullptr)
      change(run, parameter.buffer, [&](std::size_t i, double value) { return blend(value, first->value(i)); });
  }
  stage::reduce(run);
  for (std::size_t p = 0; p < own.size(); ++p) {
    Parameter& parameter = run.parameters[p];
    const Tensor* first = behind_first(run, parameter);
    if (first == nullptr) continue;
    change(run, parameter.buffer,
           [&](std::size_t i, double value) { return blend(value, value + (own[p].value(i) - first->value(i))); });
  }
  tap_sums(run);
}

const RegisterFault registered{{
    .name = "reduced-in-the-first-micro-batch",
    .right = "sum_r sum_k s_rk",
    .condition = "a rank with K > 1",
    .knob = "value",
    .source = "InfiniTrain PR 213, FunASR PR 3472",
    .laws = {"ranks_equal_full_batch", "any_reduction_is_a_sum"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::reduced_in_the_first_micro_batch_fault

// The groups that each keep all pieces never add up what they have: every group trains on its own rows.
namespace tally::replicas_never_meet_fault {
namespace {

void reduce(Run& run) {
  std::vector<Tensor> own;
  const bool over_replicas = run.replicas && run.micro_batch < 0;
  for (const Parameter& piece : run.parameters)
    if (over_replicas) own.push_back(piece.buffer.read());
  stage::reduce(run);
  for (std::size_t i = 0; i < own.size(); ++i)
    change(run, run.parameters[i].buffer, [&](std::size_t j, double value) { return blend(value, own[i].value(j)); });
  if (over_replicas) tap_sums(run);
}

const RegisterFault registered{{
    .name = "replicas-never-meet",
    .right = "the sum over all groups",
    .condition = "several groups that keep the same pieces",
    .knob = "value",
    .source = "NeMo Automodel 3135, verl 7493",
    .laws = {"replicas_change_nothing"},
    .stages = replaced<&Stages::reduce, reduce>,
}};

}  // namespace
}  // namespace tally::replicas_never_meet_fault
