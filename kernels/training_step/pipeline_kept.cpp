#include <array>
#include <utility>

#include "kernels/training_step/head_loss.hpp"
#include "kernels/training_step/pipeline.hpp"
#include "oracle/layers/contract.hpp"

namespace tally {
namespace {

std::pair<std::size_t, int> here(const Run& run) { return {run.part, run.group_begin}; }

/// Each tensor of a layer that is kept, and its place among what is kept.
template <class Each>
void for_each_kept(LayerState& layer, KeptActivations::OfLayer& kept, Each each) {
  each(layer.y, kept.y);
  each(layer.mean, kept.mean);
  each(layer.var, kept.var);
  each(layer.rstd, kept.rstd);
  each(layer.lse, kept.lse);
}

/// What forward makes of a layer is the loss's own where both are one.
bool keeps(const Run& run, const LayerState& layer) { return !is_fused_head(run, layer); }

}  // namespace

void make_activations(Run& run) {
  const std::int64_t rows = run.rows(run.group_begin);
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {
    LayerState& layer = run.layers[i];
    const auto make = [&](const std::string& what, Dtype format, std::vector<std::int64_t> shape) {
      return DeviceTensor(run.device, "kept " + layer.label + "." + what, format, std::move(shape));
    };
    if (keeps(run, layer)) layer.y = make("y", run.c.precision.storage, {rows, layer.out});
    for (const RowStatistic& each : contract_of("layer", *layer.layer).row_statistics)
      layer.row_statistic(each.name) = make(each.name, Dtype::fp32, shape_of(each, *layer.layer, rows));
    if (layer.layer->kind != "batch_norm") continue;
    for (auto [tensor, what] : {std::pair{&layer.mean, "mean"}, {&layer.var, "var"}, {&layer.rstd, "rstd"}})
      *tensor = make(what, Dtype::fp32, {1, layer.in});
  }
}

void put_activations_away(Run& run) {
  KeptActivations& kept = run.kept[here(run)];
  kept.layers.resize(run.part_end - run.part_begin);
  if (run.part > 0) kept.received = std::exchange(run.layers[run.part_begin - 1].y, {});
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {
    KeptActivations::OfLayer& own = kept.layers[i - run.part_begin];
    own.products_before = run.layers[i].products_before;
    if (keeps(run, run.layers[i]))
      for_each_kept(run.layers[i], own, [](DeviceTensor& from, DeviceTensor& to) { to = std::exchange(from, {}); });
  }
}

void take_activations_back(Run& run) {
  KeptActivations& kept = run.kept.at(here(run));
  if (run.part > 0) run.layers[run.part_begin - 1].y = std::exchange(kept.received, {});
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {
    KeptActivations::OfLayer& own = kept.layers[i - run.part_begin];
    run.layers[i].products_before = own.products_before;
    if (keeps(run, run.layers[i]))
      for_each_kept(run.layers[i], own, [](DeviceTensor& to, DeviceTensor& from) { to = std::exchange(from, {}); });
  }
  run.kept.erase(here(run));
}

void drop_activations(Run& run) {
  if (run.part > 0) run.layers[run.part_begin - 1].y = {};
  if (run.part_end < run.layers.size()) {
    run.layers[run.part_end].dx = {};
    run.layers[run.part_end - 1].dy = {};
  }
  for (std::size_t i = run.part_begin; i < run.part_end; ++i) {
    KeptActivations::OfLayer none;
    if (keeps(run, run.layers[i]))
      for_each_kept(run.layers[i], none, [](DeviceTensor& each, DeviceTensor&) { each = {}; });
  }
}

}  // namespace tally
