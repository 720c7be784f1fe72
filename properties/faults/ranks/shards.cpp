// Faults of the pieces that each rank keeps: of parameters, sums and optimizer state.
#include <algorithm>
#include <map>
#include <vector>

#include "kernels/ranks/buckets.hpp"
#include "oracle/case/sharding.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// From the second window on, layers read what was put together of the parameters for the window before.
namespace tally::gathered_weights_stale_fault {
namespace {

/// What was put together in the first window, as every rank keeps it.
std::vector<Tensor>& kept_by(const Run& run) {
  static thread_local std::map<int, std::vector<Tensor>> kept;
  return kept[rank(run)];
}

void all_gather(Run& run) {
  stage::all_gather(run);
  std::vector<Tensor>& kept = kept_by(run);
  if (run.window == 0) {
    kept.clear();
    for (const Parameter& parameter : run.parameters) kept.push_back(parameter.copy.read());
    return;
  }
  for (std::size_t p = 0; p < kept.size() && kept.size() == run.parameters.size(); ++p) {
    const Parameter& parameter = run.parameters[p];
    change(run, parameter.copy, [&](std::size_t i, double value) { return blend(value, kept[p].value(i)); });
    run.tap("all_gather", (run.behind_forward ? "again." : "") + parameter.name, parameter.copy);
  }
}

const RegisterFault registered{{
    .name = "gathered-weights-stale",
    .right = "p of this window",
    .condition = "sharded parameters, the second window and later",
    .knob = "value",
    .source = "Megatron-LM 950, DeepSpeed 8486",
    .laws = {"sharding_changes_nothing"},
    .stages = replaced<&Stages::all_gather, all_gather>,
}};

}  // namespace
}  // namespace tally::gathered_weights_stale_fault

// What was put together of the parameters is read as if every piece took its padded size: behind the first piece each
// element comes from further on, by the padding in front of it.
namespace tally::padding_strides_the_gather_fault {
namespace {

/// Elements that no parameter has, in all buckets together.
std::int64_t padding(const Run& run) {
  std::vector<std::int64_t> sizes;
  std::int64_t held = 0, padded = 0;
  for (const Parameter& parameter : run.parameters) sizes.push_back(parameter.elements), held += parameter.elements;
  for (const Bucket& bucket : buckets_of(run.c, static_cast<std::size_t>(ranks(run)), sizes)) padded += bucket.elements;
  return padded - held;
}

void all_gather(Run& run) {
  stage::all_gather(run);
  const std::int64_t shift = padding(run);
  for (std::size_t p = 0; p < run.parameters.size(); ++p) {
    const Parameter& parameter = run.parameters[p];
    std::int64_t first = parameter.elements;  // of the parameter's second piece
    for (std::size_t rank = 1; rank < run.pieces.size(); ++rank)
      for (const RankPiece& piece : run.pieces[rank])
        if (piece.parameter == p && piece.first > 0) first = std::min(first, piece.first);
    const Tensor whole = parameter.copy.read();
    change(run, parameter.copy, [&](std::size_t i, double value) {
      if (static_cast<std::int64_t>(i) < first) return value;
      const std::int64_t from = std::min(static_cast<std::int64_t>(i) + shift, parameter.elements - 1);
      return blend(value, whole.value(static_cast<std::size_t>(from)));
    });
    run.tap("all_gather", (run.behind_forward ? "again." : "") + parameter.name, parameter.copy);
  }
}

const RegisterFault registered{{
    .name = "padding-strides-the-gather",
    .stage = "all_gather",
    .right = "pieces are put together at their real offsets",
    .wrong = "at those of their padded size",
    .condition = "sharded parameters, a bucket with padding",
    .knob = "value",
    .source = "DeepSpeed 8158",
    .laws = {"sharding_changes_nothing"},
    .stages = replaced<&Stages::all_gather, all_gather>,
}};

}  // namespace
}  // namespace tally::padding_strides_the_gather_fault

// Each rank keeps the whole of the sums of gradients beside the piece that it keeps of them.
namespace tally::shard_kept_whole_fault {
namespace {

std::vector<DeviceTensor>& kept_by(const Run& run) {
  static thread_local std::map<int, std::vector<DeviceTensor>> kept;
  return kept[rank(run)];
}

void begin_window(Run& run) {
  stage::begin_window(run);
  kept_by(run).clear();
  for (const Parameter& parameter : run.parameters)
    if (shards_gradients(run.c) && ranks(run) > 1)
      kept_by(run).emplace_back(run.device, "buffer of " + parameter.name, run.c.precision.accumulate,
                                parameter.copy.shape);
}

void end_window(Run& run) {
  kept_by(run).clear();
  stage::end_window(run);
}

const Stages& faulty() {
  static const Stages stages = [] {
    Stages copy = shipped_stages();
    copy.begin_window = begin_window;
    copy.end_window = end_window;
    return copy;
  }();
  return stages;
}

const RegisterFault registered{{
    .name = "shard-kept-whole",
    .stage = "reduce",
    .right = "each rank holds its piece of the sums",
    .wrong = "and the whole beside it",
    .condition = "sharded gradients",
    .knob = "none",
    .source = "pytorch 160320",
    .laws = {"shards_share_memory"},
    .stages = faulty,
}};

}  // namespace
}  // namespace tally::shard_kept_whole_fault

// A rank's piece of the gradients is emptied behind every sum over ranks, so that the last micro-batch alone is left.
namespace tally::shard_reset_at_every_boundary_fault {
namespace {

void accumulate(Run& run) {
  if (ranks(run) > 1 && shards_gradients(run.c) && run.micro_batch > 0)
    for (Parameter& shard : run.parameters)
      change(run, shard.buffer, [&](std::size_t, double value) { return blend(value, 0); });
  stage::accumulate(run);
}

const RegisterFault registered{{
    .name = "shard-reset-at-every-boundary",
    .bug = "last-only",
    .right = "A += s_k, of a piece",
    .condition = "sharded gradients, K > 1",
    .knob = "value",
    .source = "open-instruct 1498",
    .laws = {"sharding_changes_nothing", "ranks_equal_full_batch"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::shard_reset_at_every_boundary_fault

// No rank hands its updated pieces to the others.
namespace tally::updated_shard_not_gathered_fault {
namespace {

void gather_updated(Run& run) {
  if (run.pieces.empty() || shards_parameters(run.c)) return stage::gather_updated(run);
  std::vector<Tensor> before;
  for (const Parameter& parameter : run.parameters) before.push_back(parameter.master.read());
  stage::gather_updated(run);
  for (std::size_t p = 0; p < before.size(); ++p) {
    Parameter& parameter = run.parameters[p];
    std::int64_t first = 0, count = 0;
    for (const RankPiece& piece : run.own_pieces())
      if (piece.parameter == p) first = piece.first, count = piece.count;
    change(run, parameter.master, [&](std::size_t i, double value) {
      const auto at = static_cast<std::int64_t>(i);
      return at >= first && at < first + count ? value : blend(value, before[p].value(i));
    });
    run.tap("gather_updated", parameter.name, parameter.master);
  }
}

const RegisterFault registered{{
    .name = "updated-shard-not-gathered",
    .bug = "none",  // the one of this name is told by the step of a rank that taps no gathering
    .stage = "gather_updated",
    .right = "every rank has all updated parameters",
    .wrong = "each keeps its own update, and the others as they were",
    .condition = "several ranks that share the optimizer",
    .knob = "value",
    .source = "RamTorch PR 13",
    .laws = {"sharding_changes_nothing", "ranks_agree"},
    .stages = replaced<&Stages::gather_updated, gather_updated>,
}};

}  // namespace
}  // namespace tally::updated_shard_not_gathered_fault
