// Forward over a group of micro-batches, and the loss behind it.
#include <utility>

#include "kernels/losses/loss_steps.hpp"
#include "kernels/norm/norm_steps.hpp"
#include "kernels/training_step/kind_steps.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/rows.hpp"

namespace tally::stage {

// Forward over a group of micro-batches, layer by layer; in a pipeline through the layers of one part. Recomputed activations are not tapped again: backward taps
// what it reads.
namespace {

void tap_inputs(Run& run, const LayerState& layer, int k) {
  const Dtype storage = run.c.precision.storage;
  for (std::size_t j = 0; j < layer.inputs.size() && !layer.reads_tokens; ++j)
    run.tap("forward", "in." + layer.label + "." + input_word(*layer.layer, layer.inputs.size(), j),
            run.x_of(layer, k, j), storage, {run.rows(k), layer.widths[j]});
  tap_indices(run, "forward", layer, k);
  for (const Parameter* parameter : {layer.weight, layer.bias}) {
    if (parameter != nullptr) run.tap("forward", "in." + parameter->name, parameter->copy);
  }
  if (layer.frozen) {
    run.tap("forward", "in." + layer.label + ".running_mean", layer.running_mean);
    run.tap("forward", "in." + layer.label + ".running_var", layer.running_var);
  }
  const std::string mask = "in." + layer.label + ".mask";
  if (layer.mask && layer.layer->kind == kinds::attention)
    run.tap("forward", mask, layer.mask.row(pairs_of(run.c, 0, run.first_row(k))), Dtype::u8,
            {layer.mask.shape[1], pairs_of(run.c, run.first_row(k), run.rows(k))});
  else if (layer.mask)
    run.tap("forward", mask, layer.mask.row(run.first_row(k)), Dtype::u8, {run.rows(k), layer.in});
}

void tap_outputs(Run& run, LayerState& layer, int k) {
  run.tap("forward", layer.label + ".y", run.y_of(layer, k), run.c.precision.storage, {run.rows(k), layer.out});
  for (const RowStatistic& each : contract_of("layer", *layer.layer).row_statistics)
    run.tap("forward", layer.label + "." + each.name, run.rows_of(layer.row_statistic(each.name), k), Dtype::fp32,
            shape_of(each, *layer.layer, run.rows(k)));
  if (!layer.var || layer.window_statistics || layer.step_statistics) return;
  const std::vector<std::int64_t> shape{layer.in};
  for (const auto& [name, statistic] : {std::pair{".mean", &layer.mean}, {".var", &layer.var}, {".rstd", &layer.rstd}})
    run.tap("forward", layer.label + name, statistic->row(run.slot(k)), Dtype::fp32, shape);
}

/// Statistics over all rows of the group, before any micro-batch is normalised.
void gather_window_statistics(Run& run, LayerState& layer) {
  layer.steps->group_forward(run, layer);
  if (run.recomputing) return;
  run.tap("forward", layer.label + ".mean", layer.mean.row(0), Dtype::fp32, {layer.in});
  run.tap("forward", layer.label + ".var", layer.var.row(0), Dtype::fp32, {layer.in});
  run.tap("forward", layer.label + ".rstd", layer.rstd.row(0), Dtype::fp32, {layer.in});
}

/// A sum and a norm that one kernel computes run again together.
bool runs_again(Run& run, const LayerState& layer) {
  const LayerState* const norm = norm_added_to(run, layer);
  const LayerState* const sum = sum_normalised_by(run, layer);
  return layer.recomputed || (norm != nullptr && norm->recomputed) || (sum != nullptr && sum->recomputed);
}

}  // namespace

void forward(Run& run) {
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {
    LayerState& layer = run.layers[i];
    if (run.recomputing && !runs_again(run, layer)) continue;
    if (run.recomputing)
      run.products = layer.products_before;
    else
      layer.products_before = run.products;
    if (layer.window_statistics) gather_window_statistics(run, layer);
    for (int k = run.group_begin; k < run.group_end; ++k) {
      run.micro_batch = k;
      if (!run.recomputing) tap_inputs(run, layer, k);
      if (is_fused_head(run, layer)) continue;  // the loss makes its output
      layer.steps->forward(run, layer, k);
      if (!run.recomputing) tap_outputs(run, layer, k);
    }
    run.micro_batch = -1;
  }
}

// Loss of every row of a micro-batch, and the gradient of c times their sum.

void loss(Run& run) {
  const int k = run.micro_batch;
  const Choice& loss = run.c.model.loss;
  const Dtype storage = run.c.precision.storage;
  const bool fused = fuses_head_and_loss(run);
  const std::int64_t rows = run.rows(k), features = run.dy.shape[1];
  void* losses = run.losses.row(run.first_row_alive(k));
  void* dy = fused ? nullptr : run.dy.row(run.first_row_alive(k));
  if (!fused) run.tap("loss", "in.y", run.output(k), storage, {rows, features});
  run.tap("loss", "in.target", run.target.row(run.first_row(k)), run.target.dtype,
          has_class_targets(loss) ? std::vector{rows} : std::vector{rows, features});
  run.tap("loss", "in.factor", run.factor);
  if (fused)
    run_head_and_loss(run);
  else
    loss_steps(loss).evaluate(run, k, features, static_cast<float*>(losses), dy);
  run.tap("loss", "loss", losses, Dtype::fp32, {rows});
  if (!fused) run.tap("loss", "d.y", dy, storage, {rows, features});
}

}  // namespace tally::stage
