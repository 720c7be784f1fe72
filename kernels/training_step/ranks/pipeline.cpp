// A window on one stage of a pipeline: its order of passes, what is kept between them, and what stages hand to each
// other.
#include "kernels/training_step/ranks/pipeline.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernels/losses/loss_steps.hpp"
#include "kernels/ranks/link.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/case/sizes.hpp"

namespace tally {
namespace {

/// Forward and back by their numbers, of as many as go first before any goes back.
struct Passes {
  std::vector<PipelinePass> forward, back;
};

Passes by_micro_batch(const Case& c, std::size_t stage, int micro_batches) {
  Passes passes;
  for (int k = 0; k < micro_batches; ++k) {
    passes.forward.push_back({stage, k, false});
    passes.back.push_back({stage, nth_backward(c, micro_batches, k), true});
  }
  return passes;
}

Passes by_chunk(const Case& c, std::size_t stage, int micro_batches) {
  Passes passes;
  const auto stages = static_cast<int>(stages_of(c)), chunks = static_cast<int>(chunks_of(c));
  for (int i = 0; i < micro_batches * chunks; ++i) {
    const int chunk = i / stages % chunks, k = i / (stages * chunks) * stages + i % stages;
    const auto part = [&](int of) { return static_cast<std::size_t>(of * stages) + stage; };
    passes.forward.push_back({part(chunk), k, false});
    passes.back.push_back({part(chunks - 1 - chunk), k, true});
  }
  return passes;
}

const Register<SizeEdges> registered_chunks{
    {"chunks of a stage", {2}, "a round of micro-batches goes through the next chunk"}};

}  // namespace

std::vector<PipelinePass> passes_of_stage(const Case& c, std::size_t stage, int micro_batches) {
  const std::string& schedule = pipeline_schedule(c);
  const Passes passes =
      schedule == "interleaved" ? by_chunk(c, stage, micro_batches) : by_micro_batch(c, stage, micro_batches);
  const std::size_t all = passes.forward.size(), behind = stages_of(c) - stage - 1;
  std::size_t first = all;
  if (schedule == "1f1b") first = std::min(all, behind);
  if (schedule == "interleaved") first = std::min(all, 2 * behind + (chunks_of(c) - 1) * stages_of(c));
  std::vector<PipelinePass> order(passes.forward.begin(), passes.forward.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < all; ++i) {
    if (first + i < all) order.push_back(passes.forward[first + i]);
    order.push_back(passes.back[i]);
  }
  return order;
}

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
    if (layer.layer->kind != kinds::batch_norm) continue;
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

// What stages of a pipeline hand to each other: the output of a part to the part behind it, and back the gradient of what
// that read.
namespace tally::stage {
namespace {

/// "w0/m2/send, p1 to p2", of parts. Each message of a window has a name of its own.
std::string about_message(const Run& run, std::size_t from, std::size_t to) {
  return "w" + std::to_string(run.window) + "/m" + std::to_string(run.micro_batch) + "/send, part " +
         std::to_string(from) + " to " + std::to_string(to);
}

int stage_with_part(const Run& run, std::size_t part) { return static_cast<int>(stage_of_part(run.c, part)); }

std::string first_read(const LayerState& layer) {
  return layer.label + "." + input_word(*layer.layer, layer.inputs.size(), 0);
}

/// `tensor` of the layer that begins the part behind, or the one whose output goes there, travels.
void hand_over(Run& run, std::size_t to, const std::string& tensor, void* address, std::int64_t features) {
  const std::vector<std::int64_t> shape{run.rows(run.micro_batch), features};
  run.tap("send", "in." + tensor, address, run.c.precision.storage, shape);
  Tensor value(run.c.precision.storage, shape);
  run.device.read(address, value.bytes.data(), value.bytes.size());
  run.options.pipe->send(stage_with_part(run, to), about_message(run, run.part, to),
                         {value.bytes.data(), value.bytes.size()});
}

DeviceTensor taken(Run& run, std::size_t from, const std::string& name, const std::string& tensor,
                   std::int64_t features) {
  Tensor value(run.c.precision.storage, {run.rows(run.micro_batch), features});
  run.options.pipe->receive(stage_with_part(run, from), about_message(run, from, run.part),
                            {value.bytes.data(), value.bytes.size()});
  DeviceTensor held(run.device, "received " + name, value);
  run.tap("receive", tensor, held);
  return held;
}

}  // namespace

void receive(Run& run) {
  if (run.behind_forward) {
    if (run.part_end == run.layers.size() || !run.layers[run.part_end].gives_dx) return;
    LayerState& reader = run.layers[run.part_end];
    LayerState& own = run.layers[run.part_end - 1];
    const std::string gradient = "d." + own.label + ".y";
    const bool summed = own.readers.size() > 1;
    (summed ? own.dy : reader.dx) =
        taken(run, run.part + 1, summed ? gradient : "d." + first_read(reader), gradient, own.out);
  } else if (run.part > 0) {
    LayerState& before = run.layers[run.part_begin - 1];
    before.y = taken(run, run.part - 1, before.label + ".y", first_read(run.layers[run.part_begin]), before.out);
  }
}

void send(Run& run) {
  if (run.behind_forward) {
    LayerState& own = run.layers[run.part_begin];
    if (run.part == 0 || !own.gives_dx) return;
    const LayerState& before = run.layers[run.part_begin - 1];
    if (before.readers.size() > 1)
      hand_over(run, run.part - 1, "d." + before.label + ".y", run.dy_of(before, run.micro_batch), before.out);
    else
      hand_over(run, run.part - 1, "d." + first_read(own), run.dx_of(own, run.micro_batch), own.in);
  } else if (run.part_end < run.layers.size()) {
    LayerState& own = run.layers[run.part_end - 1];
    hand_over(run, run.part + 1, own.label + ".y", run.y_of(own, run.micro_batch), own.out);
  }
}

}  // namespace tally::stage

namespace tally {
namespace {

void for_micro_batch(Run& run, Stage stage) {
  run.micro_batch = run.group_begin;
  stage(run);
  run.micro_batch = -1;
}

void go_forward(Run& run) {
  run.behind_forward = false;
  for_micro_batch(run, run.stages.receive);
  make_activations(run);
  run.stages.forward(run);
  run.stages.running_stats(run);
  for_micro_batch(run, run.stages.send);
  run.stream.synchronize();
  put_activations_away(run);
}

void go_back(Run& run) {
  run.behind_forward = true;
  take_activations_back(run);
  for_micro_batch(run, run.stages.receive);
  if (run.part_end == run.layers.size()) {
    for_micro_batch(run, run.stages.factor);
    for_micro_batch(run, run.stages.loss);
  }
  run.stages.backward(run);
  for_micro_batch(run, run.stages.send);
  for_micro_batch(run, run.stages.accumulate);
  run.stream.synchronize();
  drop_activations(run);
}

}  // namespace

void run_pipeline(Run& run) {
  const std::vector<PipelinePart> parts = parts_of_model(run.c);
  const auto count = static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  for (const PipelinePass& pass : passes_of_stage(run.c, static_cast<std::size_t>(run.pipe_rank), count)) {
    run.part = pass.part;
    run.part_begin = parts[pass.part].first;
    run.part_end = parts[pass.part].end;
    run.group_begin = pass.micro_batch;
    run.group_end = pass.micro_batch + 1;
    pass.back ? go_back(run) : go_forward(run);
  }
}

}  // namespace tally
