// Backward over a group, the sums of what several readers give, and the buffers that add up micro-batches.
#include <algorithm>

#include "kernels/losses/loss_steps.hpp"
#include "kernels/norm/norm_steps.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/sharding.hpp"

namespace tally::stage {

// Backward over a group, last layer first, through every layer that a gradient reaches. What several layers read takes
// the sum of what they give before it goes on. With recomputation the group's activations, or those of the layers that
// the case names, are thrown away first and computed again.
namespace {

/// The same products add in the same orders again: kernels claim to repeat bit for bit, and backward must read the bits
/// that forward left.
void recompute(Run& run) {
  const std::uint64_t products = run.products;
  run.recomputing = true;
  run.stages.forward(run);
  run.recomputing = false;
  run.products = products;
}

/// What recomputation saves memory by. Poison stands for memory that is gone.
void throw_activations_away(Run& run) {
  for (std::size_t i = run.part_begin; i < run.part_end; ++i)
    if (run.layers[i].recomputed) run.layers[i].y.poison_on(run.stream);
}

/// What backward reads of forward's outputs.
void tap_kept(Run& run, LayerState& layer, int k) {
  const Contract& contract = contract_of("layer", *layer.layer);
  for (const std::string& kept : contract.kept_for_backward) {
    const auto statistic = std::ranges::find(contract.row_statistics, kept, &RowStatistic::name);
    const std::string tensor = "in." + layer.label + "." + kept;
    if (statistic == contract.row_statistics.end())
      run.tap("backward", tensor, run.y_of(layer, k), run.c.precision.storage, {run.rows(k), layer.out});
    else
      run.tap("backward", tensor, run.rows_of(layer.row_statistic(kept), k), Dtype::fp32,
              shape_of(*statistic, *layer.layer, run.rows(k)));
  }
}

void tap_backward_inputs(Run& run, LayerState& layer, int k) {
  const Dtype storage = run.c.precision.storage;
  run.tap("backward", "in.d." + layer.label + ".y", run.dy_of(layer, k), storage, {run.rows(k), layer.out});
  for (std::size_t j = 0; j < layer.inputs.size() && !layer.reads_tokens; ++j)
    run.tap("backward", "in." + layer.label + "." + input_word(*layer.layer, layer.inputs.size(), j),
            run.x_of(layer, k, j), storage, {run.rows(k), layer.widths[j]});
  tap_kept(run, layer, k);
  tap_indices(run, "backward", layer, k);
  for (const Parameter* parameter : {layer.weight, layer.bias}) {
    if (parameter != nullptr) run.tap("backward", "in." + parameter->name, parameter->copy);
  }
}

void tap_backward_outputs(Run& run, const LayerState& layer, int k) {
  const Dtype storage = run.c.precision.storage;
  for (std::size_t j = 0; j < layer.inputs.size() && layer.gives_dx; ++j)
    run.tap("backward", "d." + layer.label + "." + input_word(*layer.layer, layer.inputs.size(), j),
            run.dx_of(layer, k, j), storage, {run.rows(k), layer.widths[j]});
  for (const Parameter* parameter : {layer.weight, layer.bias}) {
    if (parameter == nullptr || !parameter->trains || parameter->into_buffer) continue;
    const bool shared = layer.shared_gradient && parameter == layer.weight;
    run.tap("backward", "d." + parameter->name + (shared ? "@" + layer.label : ""),
            run.gradient_by(layer, parameter, k), storage, parameter->copy.shape);
  }
}

/// The gradient of an output that several layers read. The part behind sums it where the output ends a part of a
/// pipeline.
void sum_of_readers(Run& run, LayerState& layer) {
  for (int k = run.group_begin; k < run.group_end; ++k) {
    run.micro_batch = k;
    run.stages.fork(run, layer, k);
  }
  run.micro_batch = -1;
}

}  // namespace

void backward(Run& run) {
  const bool again = run.c.execution.recompute && run.options.follow == nullptr;
  if (again) throw_activations_away(run);
  if (again) recompute(run);
  for (std::size_t i = run.part_end; i-- > run.part_begin;) {
    LayerState* const layer = &run.layers[i];
    if (!layer->has_gradient) continue;
    if (layer->dy && !(run.pipelined() && i + 1 == run.part_end)) sum_of_readers(run, *layer);
    if (layer->hands_on) continue;
    if (layer->window_statistics && layer->gives_dx) layer->steps->group_backward(run, *layer);
    for (int k = run.group_begin; k < run.group_end; ++k) {
      run.micro_batch = k;
      if (!is_fused_head(run, *layer)) {  // else the loss has computed its gradients
        tap_backward_inputs(run, *layer, k);
        layer->steps->backward(run, *layer, k);
      }
      tap_backward_outputs(run, *layer, k);
    }
    run.micro_batch = -1;
  }
  if (run.part_begin > 0 && run.layers[run.part_begin - 1].dy) sum_of_readers(run, run.layers[run.part_begin - 1]);
  for (run.micro_batch = run.group_begin; run.micro_batch < run.group_end; ++run.micro_batch) run.stages.share(run);
  run.micro_batch = -1;
}

// The gradient of an output that several layers read, (add.3): what its readers gave, the last one's first, as they
// come in backward. Every sum is stored. The norm behind a residual sum may have added them.

void fork(Run& run, LayerState& layer, int k) {
  const Dtype storage = run.c.precision.storage;
  const std::int64_t rows = run.rows(k);
  void* sum = layer.dy.row(run.first_row_alive(k));
  const void* before = nullptr;
  const bool added = norm_adding_back_to(run, layer) != nullptr;
  for (auto reader = layer.readers.rbegin(); reader != layer.readers.rend(); ++reader) {
    const LayerState& from = run.layers[reader->layer];
    void* given = run.given_by(*reader, k);
    run.tap("fork", "in.d." + from.label + "." + input_word(*from.layer, from.inputs.size(), reader->input), given,
            storage, {rows, layer.out});
    if (before != nullptr) {
      if (!added) run.launch<AddArguments>("gradient.add", {storage, before, given, sum, rows * layer.out});
      before = sum;
    } else {
      before = given;
    }
  }
  run.tap("fork", "d." + layer.label + ".y", sum, storage, {rows, layer.out});
}

// The gradient of a parameter that several layers read, (add.3): what they gave, the last one's first, as they come in
// backward. Every sum is stored.

void share(Run& run) {
  const int k = run.micro_batch;
  const Dtype storage = run.c.precision.storage;
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    if (shared.users.front() < run.part_begin || shared.users.front() >= run.part_end) continue;
    const Parameter& parameter = run.parameter(shared.name);
    void* sum = run.gradient_of(&parameter, k);
    const void* before = nullptr;
    for (auto user = shared.users.rbegin(); user != shared.users.rend(); ++user) {
      void* given = run.gradient_by(run.layers[*user], &parameter, k);
      run.tap("fork", "in." + gradient_name(run.c.model, *user, "weight"), given, storage, parameter.copy.shape);
      if (before != nullptr) {
        run.launch<AddArguments>("gradient.add", {storage, before, given, sum, parameter.elements});
        before = sum;
      } else {
        before = given;
      }
    }
    run.tap("fork", "d." + shared.name, sum, storage, parameter.copy.shape);
  }
}

void accumulate(Run& run) {
  const int k = run.micro_batch;
  const auto micro_batches = static_cast<int>(run.c.windows[static_cast<std::size_t>(run.window)].size());
  for (Parameter& parameter : run.parameters) {
    if (parameter.into_buffer) continue;  // backward's product has added it
    if (parameter.layer < run.part_begin || parameter.layer >= run.part_end) continue;  // of another part of a pipeline
    void* gradient = parameter.reduced ? parameter.reduced.data() : run.gradient_of(&parameter, k);
    const Dtype format = parameter.reduced ? parameter.reduced.dtype : parameter.gradient.dtype;
    run.tap("accumulate", "in.d." + parameter.name, gradient, format, parameter.master.shape);
    run.tap("accumulate", "in.buffer." + parameter.name, parameter.buffer);
    DeviceTensor& compensation = parameter.compensation;
    if (compensation && backward_before(run.c, micro_batches, k) < 0)
      compensation.zero_on(run.stream);  // also where the buffer was cleared by another than begin_window
    if (compensation) run.tap("accumulate", "in.compensation." + parameter.name, compensation);
    run.launch<AccumulateArguments>(
        "accumulate", {format, gradient, parameter.buffer.data(), parameter.elements, parameter.buffer.dtype,
                       compensation ? compensation.data() : nullptr});
    run.tap("accumulate", "buffer." + parameter.name, parameter.buffer);
    if (compensation) run.tap("accumulate", "compensation." + parameter.name, compensation);
  }
}

}  // namespace tally::stage
