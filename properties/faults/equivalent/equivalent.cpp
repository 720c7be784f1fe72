// Changes that must pass because they leave the same numbers: what is done twice, again, or not at all.
#include "properties/faults/equivalent/equivalent.hpp"

#include <map>

#include "oracle/registered_files.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {
namespace {
std::map<std::string, EquivalentMutant, std::less<>>& registry() {
  static std::map<std::string, EquivalentMutant, std::less<>> all;
  return all;
}
}  // namespace

RegisterEquivalent::RegisterEquivalent(EquivalentMutant mutant, std::source_location at) {
  note_registered(at);
  registry().emplace(mutant.name, std::move(mutant));
}

std::vector<const EquivalentMutant*> equivalent_mutants() {
  std::vector<const EquivalentMutant*> all;
  for (const auto& [name, mutant] : registry()) all.push_back(&mutant);
  return all;
}

}  // namespace tally

// Buffers are cleared after the step and again before the window: zero is zero.
namespace tally::buffers_cleared_twice_fault {
namespace {

void end_window(Run& run) {
  stage::end_window(run);
  for (Parameter& parameter : run.parameters) {
    if (parameter.buffer) parameter.buffer.zero();
  }
}

const RegisterEquivalent registered{{
    .name = "buffers-cleared-twice",
    .change = "buffers are cleared after the step and again before the window",
    .why = "zero is zero",
    .source = "accelerate 2790: zero_grad wherever a loop puts it",
    .laws = {"windows_do_not_leak", "overflow_skips_the_window", "partition_equals_full_batch"},
    .stages = replaced<&Stages::end_window, end_window>,
}};

}  // namespace
}  // namespace tally::buffers_cleared_twice_fault

// A micro-batch without items is not added at all: its gradient is exactly zero, but for statistics that it shares
// with others.
namespace tally::empty_microbatch_skipped_fault {
namespace {

void accumulate(Run& run) {
  if (run.items(run.micro_batch) != 0 || run.lockstep) return stage::accumulate(run);
  for (Parameter& parameter : run.parameters) {
    run.tap("accumulate", "in.d." + parameter.name, run.gradient_of(&parameter, run.micro_batch),
            parameter.gradient.dtype, parameter.master.shape);
    run.tap("accumulate", "in.buffer." + parameter.name, parameter.buffer);
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
  }
}

const RegisterEquivalent registered{{
    .name = "empty-microbatch-skipped",
    .change = "a micro-batch without items is not added at all",
    .why = "its gradient is exactly zero, but for statistics that it shares with others",
    .source = "nanochat PR 623, OLMo-core PR 657",
    .laws = {"unequal_items_are_weighted", "empty_window_takes_its_step"},
    .stages = replaced<&Stages::accumulate, accumulate>,
}};

}  // namespace
}  // namespace tally::empty_microbatch_skipped_fault

// Products of few rows add in another order than products of many: every order of additions is legal; its rounding is
// inside the bound.
namespace tally::order_follows_the_shape_fault {
namespace {

void gemm_by_shape(Run& run, const GemmCall& call, const GemmOrder& order) {
  const GemmOrder split{GemmOrder::Kind::split_k, 2}, pairwise{GemmOrder::Kind::pairwise, 0};
  stage::gemm(run, call, call.m > 4 ? split : call.m > 2 ? pairwise : order);
}

const RegisterEquivalent registered{{
    .name = "order-follows-the-shape",
    .change = "products of few rows add in another order than products of many",
    .why = "every order of additions is legal; its rounding is inside the bound",
    .source = "pytorch PR 180832: batched or sliced computations",
    .laws = {"partition_equals_full_batch", "many_micro_batches_stay_bounded", "any_order_of_additions",
             "repeats_bitwise"},
    .stages = with_gemm<gemm_by_shape>,
}};

}  // namespace
}  // namespace tally::order_follows_the_shape_fault

// Every forward pass runs again before backward: kernels repeat bit for bit, so the activations are the same.
namespace tally::recomputes_always_fault {
namespace {

void backward(Run& run) {
  const std::uint64_t products = run.products;
  for (LayerState& layer : run.layers) layer.recomputed = true;
  run.recomputing = true;
  run.stages.forward(run);
  run.recomputing = false;
  run.products = products;
  stage::backward(run);
}

const RegisterEquivalent registered{{
    .name = "recomputes-always",
    .change = "every forward pass runs again before backward",
    .why = "kernels repeat bit for bit, so the activations are the same",
    .source = "pytorch 96136: only a second update of statistics would be wrong",
    .laws = {"recomputation_changes_nothing", "running_statistics_move_once", "partition_equals_full_batch"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::recomputes_always_fault

// The flag to step is set at the end of the data, then computed again: the step count was reset, so that the second
// answer is the first.
namespace tally::sync_flag_computed_twice_fault {
namespace {

bool steps_after(const Run& run, int k) {
  const bool end_of_data =
      static_cast<std::size_t>(run.window) + 1 == run.c.windows.size() && k + 1 == micro_batches(run);
  bool step = end_of_data;
  step = (k + 1) % micro_batches(run) == 0;
  return step || end_of_data;
}

const RegisterEquivalent registered{{
    .name = "sync-flag-computed-twice",
    .change = "the flag to step is set at the end of the data, then computed again",
    .why = "the step count was reset, so that the second answer is the first",
    .source = "accelerate c7526e94",
    .laws = {"every_window_takes_its_step", "short_tail_window", "scaler_counts_windows"},
    .stages = replaced<&Stages::window, window_stepping<steps_after>>,
}};

}  // namespace
}  // namespace tally::sync_flag_computed_twice_fault
