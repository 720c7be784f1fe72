// Faults of statistics and running values that ranks share.
#include "oracle/case/ranks.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/ranks/ranks.hpp"
#include "properties/faults/seeded.hpp"

// The gradients of weight and bias are those of all ranks' rows, and then added up over the ranks as well.
namespace tally::affine_gradients_pooled_twice_fault {
namespace {

void take_of_all(Run& run, Parameter* parameter, const DeviceTensor& sums, int k) {
  if (parameter == nullptr) return;
  const Tensor all = sums.read();
  void* const gradient = run.gradient_of(parameter, k);
  const Dtype storage = run.c.precision.storage;
  change(run, gradient, storage, parameter->elements,
         [&](std::size_t i, double own) { return blend(own, all.value(i)); });
  run.micro_batch = k;
  run.tap("backward", "d." + parameter->name, gradient, storage, parameter->copy.shape);
  run.micro_batch = -1;
}

void backward(Run& run) {
  stage::backward(run);
  for (const LayerState& layer : run.layers) {
    if (!layer.step_statistics || !layer.gives_dx) continue;
    take_of_all(run, layer.trained_weight(), layer.dw_sum, run.group_begin);
    take_of_all(run, layer.trained_bias(), layer.db_sum, run.group_begin);
  }
}

const RegisterFault registered{{
    .name = "affine-gradients-pooled-twice",
    .stage = "backward",
    .right = "each rank's own rows, added up over the ranks once",
    .wrong = "all rows on every rank, and added up again",
    .condition = "micro_step statistics that pass a gradient on, weight and bias that train, rows on several ranks",
    .knob = "value",
    .source = "nnabla PR 1120",
    .laws = {"micro_step_statistics_pool"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::affine_gradients_pooled_twice_fault

// Every rank puts the statistics of a micro-step together as if all had as many rows as it has itself.
namespace tally::own_count_for_all_fault {
namespace {

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const Tensor first = layer.own_first.read(), second = layer.own_second.read();
  stage::sync_statistics(run, layer, part);
  if (part == StepPart::gradients) return;
  const StepOnRanks step(run, layer, first, second);
  const double own = step.own_rows() > 0 ? step.own_rows() : 1;
  step.write([&](double) { return own; }, part);
}

const RegisterFault registered{{
    .name = "own-count-for-all",
    .stage = "sync_statistics",
    .right = "Σ n_r μ_r / Σ n_r",
    .wrong = "each rank's own n for every n_r",
    .condition = "micro_step statistics, unequal rows of a micro-step on several ranks",
    .knob = "value",
    .source = "pytorch 22192, Paddle 32464",
    .laws = {"micro_step_statistics_pool", "shared_statistics_keep_their_bound"},
    .stages = with_sync<sync_statistics>,
}};

}  // namespace
}  // namespace tally::own_count_for_all_fault

// The running variance of a micro-step is unbiased by each rank's own rows.
namespace tally::own_count_unbiases_running_variance_fault {
namespace {

void running_stats(Run& run) {
  const std::int64_t all = run.step_rows, step = run.group_begin;
  const bool has_rows = step < static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  const std::int64_t own = has_rows ? run.rows(static_cast<int>(step)) : 0;
  if (own > 1) run.step_rows = blend_whole(all, own);
  stage::running_stats(run);
  run.step_rows = all;
}

const RegisterFault registered{{
    .name = "own-count-unbiases-running-variance",
    .stage = "running_stats",
    .right = "n/(n-1) of the rows of all ranks",
    .wrong = "of each rank's own",
    .condition = "micro_step statistics, rows on several ranks, two or more on one",
    .knob = "rows",
    .source = "pytorch 22192, apex 387",
    .laws = {"micro_step_statistics_pool", "ranks_agree"},
    .stages = replaced<&Stages::running_stats, running_stats>,
}};

}  // namespace
}  // namespace tally::own_count_unbiases_running_variance_fault

// Backward's sums are made means by each rank's own rows before they are averaged over the ranks.
namespace tally::own_mean_in_synchronised_backward_fault {
namespace {

/// N / R Σ s_r / n_r, where n_r is not 0.
double mean_of_means(const std::vector<Tensor>& sums, const std::vector<Tensor>& rows, std::size_t i) {
  double all = 0, count = 0, busy = 0;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const double own = rows[r].value(0);
    if (own == 0) continue;
    all += sums[r].value(i) / own;
    count += own;
    busy += 1;
  }
  return count / busy * all;
}

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const Tensor first = layer.own_first.read(), second = layer.own_second.read();
  stage::sync_statistics(run, layer, part);
  if (part != StepPart::gradients) return;
  Link& link = *run.options.link;
  const auto rows = rows_on_ranks(run, layer);
  const auto of_dy_h = brought_by_all(link, about_step(run, layer, "dy h"), first);
  const auto of_dy = brought_by_all(link, about_step(run, layer, "dy"), second);
  leave(run, layer, layer.db_sum, "sum_dy", [&](std::size_t i) { return mean_of_means(of_dy, rows, i); });
  leave(run, layer, layer.dw_sum, "sum_dy_h", [&](std::size_t i) { return mean_of_means(of_dy_h, rows, i); });
}

const RegisterFault registered{{
    .name = "own-mean-in-synchronised-backward",
    .stage = "sync_statistics",
    .right = "Σ dy over all rows / Σ n_r",
    .wrong = "the mean over ranks of Σ dy / n_r",
    .condition = "micro_step statistics that pass a gradient on, unequal rows on several ranks",
    .knob = "value",
    .source = "pytorch PR 36382",
    .laws = {"micro_step_statistics_pool"},
    .stages = with_sync<sync_statistics>,
}};

}  // namespace
}  // namespace tally::own_mean_in_synchronised_backward_fault

// Forward shares its statistics, backward takes the sums of its own rows for those of all.
namespace tally::synchronised_backward_stays_local_fault {
namespace {

void sync_statistics(Run& run, LayerState& layer, StepPart part) {
  const Tensor first = layer.own_first.read(), second = layer.own_second.read();
  stage::sync_statistics(run, layer, part);
  if (part != StepPart::gradients) return;
  leave(run, layer, layer.db_sum, "sum_dy", [&](std::size_t i) { return second.value(i); });
  leave(run, layer, layer.dw_sum, "sum_dy_h", [&](std::size_t i) { return first.value(i); });
}

const RegisterFault registered{{
    .name = "synchronised-backward-stays-local",
    .right = "Σ dy, Σ dy h over the rows of all ranks",
    .condition = "micro_step statistics that pass a gradient on, rows on several ranks",
    .knob = "value",
    .source = "source mutation",
    .laws = {"shared_statistics_keep_their_bound", "micro_step_statistics_pool"},
    .stages = with_sync<sync_statistics>,
}};

}  // namespace
}  // namespace tally::synchronised_backward_stays_local_fault

// Statistics that all ranks share move the running values once for every rank.
namespace tally::running_values_move_by_ranks_fault {
namespace {

void running_stats(Run& run) {
  const bool shared = std::ranges::any_of(run.layers, &LayerState::step_statistics);
  for (int i = 0; i < (shared ? ranks(run) : 1); ++i) stage::running_stats(run);
}

const RegisterFault registered{{
    .name = "running-values-move-by-ranks",
    .stage = "running_stats",
    .right = "momentum m once a micro-step",
    .wrong = "1 - (1 - m)^R",
    .condition = "micro_step statistics, several ranks",
    .knob = "value",
    .source = "source mutation",
    .laws = {"micro_step_statistics_pool"},
    .stages = replaced<&Stages::running_stats, between_stages<stage::running_stats, running_stats>>,
}};

}  // namespace
}  // namespace tally::running_values_move_by_ranks_fault

// No rank takes the first one's running values: each goes on with those that its own micro-batches moved.
namespace tally::buffers_not_synchronised_fault {
namespace {

/// As they were, in the place of what the first rank handed over.
void keep_own(Run& run, const std::string& name, const DeviceTensor& values, const Tensor& own) {
  change(run, values, [&](std::size_t i, double value) { return blend(value, own.value(i)); });
  run.tap("running_stats", "broadcast." + name, values);
}

void begin_window(Run& run) {
  std::vector<Tensor> mean, var;
  for (const LayerState& layer : run.layers) {
    const bool handed = takes_first_running(run.c, *layer.layer);
    mean.push_back(handed ? layer.running_mean.read() : Tensor());
    var.push_back(handed ? layer.running_var.read() : Tensor());
  }
  stage::begin_window(run);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const LayerState& layer = run.layers[i];
    if (!takes_first_running(run.c, *layer.layer)) continue;
    keep_own(run, layer.label + ".running_mean", layer.running_mean, mean[i]);
    keep_own(run, layer.label + ".running_var", layer.running_var, var[i]);
  }
}

const RegisterFault registered{{
    .name = "buffers-not-synchronised",
    .right = "r_rank = what the first rank left",
    .condition = "several ranks and windows, batch norm that moves with each micro-batch, running of the first rank",
    .knob = "value",
    .source = "pytorch 111138",
    .laws = {"ranks_agree"},
    .stages = replaced<&Stages::begin_window, begin_window>,
}};

}  // namespace
}  // namespace tally::buffers_not_synchronised_fault
