#include <algorithm>
#include <numeric>

#include "kernels/attention/rotary.hpp"
#include "kernels/linear/weight_gradient.hpp"
#include "kernels/training_step/offload.hpp"
#include "kernels/training_step/run/run_parts.hpp"
#include "kernels/training_step/stages.hpp"
#include "oracle/case/contract.hpp"
#include "oracle/case/kept_tensors.hpp"
#include "oracle/case/kinds.hpp"
#include "oracle/case/ranks.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/case/sharding.hpp"
#include "oracle/layers/heads.hpp"

namespace tally {

Alive::Alive(const Case& c, bool lockstep) {
  for (const auto& window : c.windows) {
    const auto count = static_cast<std::int64_t>(window.size());
    const std::int64_t all = std::accumulate(window.begin(), window.end(), std::int64_t{0});
    const std::int64_t largest = window.empty() ? 0 : *std::ranges::max_element(window);
    rows = std::max(rows, lockstep ? all : largest);
    if (lockstep) micro_batches = std::max(micro_batches, count);
  }
}

DeviceTensor optional_tensor(Device& on, const Case& c, const std::string& name) {
  const auto place = c.tensors.find(name);
  return place == c.tensors.end() ? DeviceTensor{} : DeviceTensor(on, name, place->second);
}

std::map<std::string, std::string> all_chosen(const Case& c, const Stages& stages) {
  std::map<std::string, std::string> chosen = stages.variants;
  chosen.insert(c.execution.kernels.begin(), c.execution.kernels.end());
  return chosen;
}

namespace {

/// False for parameters that weight_decay excludes, and where there is none.
bool decays(const Case& c, const Layer& layer, std::string_view tensor) {
  const Choice& choice = c.recipe.weight_decay;
  if (!tally::decays(choice)) return false;
  const auto& exclude = choice.texts("exclude");
  const auto excluded = [&](const std::string& word) { return std::ranges::find(exclude, word) != exclude.end(); };
  if (excluded(layer.name + "." + std::string(tensor))) return false;
  const Contract& contract = contract_of("layer", layer);
  return !(excluded("bias") && tensor == "bias") && !(excluded("norm") && is_norm(layer)) &&
         !(excluded("embedding") && looks_up(contract));
}

/// Optimizer state of the case, or zeros.
DeviceTensor state_tensor(Run& run, const KeptTensor& kept) {
  const auto given = run.c.tensors.find(kept.name);
  if (given != run.c.tensors.end()) return DeviceTensor(step_device(run), step_name(run.c, kept.name), given->second);
  DeviceTensor state(step_device(run), step_name(run.c, kept.name), run.c.precision.master, kept.shape);
  state.zero();
  return state;
}

void add_optimizer_state(Run& run, Parameter& parameter) {
  for (const KeptTensor& kept : kept_beside(run.c, parameter.name)) {
    const bool started = !kept.of->begins_with_gradient || run.c.tensors.contains(kept.name);
    parameter.state.push_back({kept.of, state_tensor(run, kept), started});
  }
}

void add_buffer(Run& run, Parameter& parameter) {
  const Dtype format = run.c.precision.accumulate;
  const auto& shape = parameter.master.shape;
  parameter.buffer = DeviceTensor(run.device, "buffer of " + parameter.name, format, shape);
  if (run.kernels.claim("accumulate").algorithm != "kahan") return;
  parameter.compensation = DeviceTensor(run.device, "compensation of " + parameter.name, format, shape);
}

Parameter* add_parameter(Run& run, const Layer& layer, const char* tensor, const Alive& alive) {
  const std::string name = layer.name + "." + tensor;
  const auto place = run.c.tensors.find(name);
  if (layer.name.empty() || place == run.c.tensors.end()) return nullptr;
  const Precision& precision = run.c.precision;
  Parameter& parameter = (layer.trainable ? run.parameters : run.frozen).emplace_back();
  parameter.name = name;
  parameter.layer = run.layers.back().index;
  parameter.trains = layer.trainable;
  parameter.elements = static_cast<std::int64_t>(place->second.elements());
  const auto& shape = place->second.shape;
  const bool of_pieces = run.options.link != nullptr && parameter.trains && shards_optimizer(run.c);  // shards.cpp
  const bool sums_of_pieces = of_pieces && shards_gradients(run.c);
  if (!of_pieces || !shards_parameters(run.c)) parameter.master = DeviceTensor(run.device, name, place->second);
  parameter.copy = DeviceTensor(run.device, "copy of " + name, precision.storage, shape);
  if (!parameter.trains) return &parameter;
  parameter.decays = decays(run.c, layer, tensor);
  std::vector<std::int64_t> slots = shape;
  slots.insert(slots.begin(), alive.micro_batches);
  parameter.into_buffer = layer.kind == kinds::linear && std::string_view(tensor) == "weight" &&
                          adds_by_product(run, all_chosen(run.c, run.stages));
  if (!parameter.into_buffer) {
    parameter.gradient = DeviceTensor(run.device, "gradient of " + name, precision.storage, slots);
  }
  if (run.options.accumulate && !sums_of_pieces) add_buffer(run, parameter);
  if (run.options.link != nullptr && communicate_of(run.c) == Communicate::micro_batch && !sums_of_pieces)
    parameter.reduced = DeviceTensor(run.device, "buffer of ranks of " + name, precision.accumulate, shape);
  if (of_pieces) return &parameter;
  parameter.unscaled =
      DeviceTensor(step_device(run), step_name(run.c, "unscaled gradient of " + name), Dtype::fp32, shape);
  add_optimizer_state(run, parameter);
  return &parameter;
}

void add_statistics(Run& run, LayerState& state, const Alive& alive) {
  const auto make = [&](const char* what, std::vector<std::int64_t> shape) {
    return DeviceTensor(run.device, state.label + "." + what, Dtype::fp32, std::move(shape));
  };
  const Contract& contract = contract_of("layer", *state.layer);
  for (const RowStatistic& each : contract.row_statistics)
    if (!run.pipelined())
      state.row_statistic(each.name) = make(each.name.c_str(), shape_of(each, *state.layer, alive.rows));
  for (const RowStatistic& each : contract.backward_statistics)
    state.row_statistic(each.name) = make(each.name.c_str(), shape_of(each, *state.layer, alive.rows));
  if (state.layer->kind != kinds::batch_norm) return;
  for (auto [tensor, what] : {std::pair{&state.mean, "mean"},
                              {&state.var, "var"},
                              {&state.rstd, "rstd"},
                              {&state.dw_sum, "dw_sum"},
                              {&state.db_sum, "db_sum"}}) {
    const bool kept = tensor == &state.mean || tensor == &state.var || tensor == &state.rstd;
    if (!kept || !run.pipelined()) *tensor = make(what, {alive.micro_batches, state.in});
  }
  state.window_statistics = state.layer->text("statistics") == "window";
  state.frozen = state.layer->text("statistics") == "frozen";
  state.step_statistics = run.options.link != nullptr && takes_step_statistics(*state.layer);
  if (state.step_statistics) {
    state.own_first = make("own_first", {state.in});
    state.own_second = make("own_second", {state.in});
  }
  state.running_mean = optional_tensor(run.device, run.c, state.label + ".running_mean");
  state.running_var = optional_tensor(run.device, run.c, state.label + ".running_var");
}

/// The gradients of the inputs behind the first, where these are not alike, and what attention's kernels keep.
void add_more_inputs(Run& run, LayerState& state, const Alive& alive) {
  const Contract& contract = contract_of("layer", *state.layer);
  state.widths = features_read(run.c.model, state.index);
  for (std::size_t j = 1; j < state.widths.size() && !contract.input_words.empty() && state.gives_dx; ++j)
    state.more_dx.emplace_back(run.device, "d." + state.label + "." + contract.input_words[j], run.c.precision.storage,
                               std::vector<std::int64_t>{alive.rows, state.widths[j]});
  if (state.layer->kind != kinds::attention) return;
  const std::int64_t widest = std::max(state.widths[0], state.widths[1] + state.widths[2]);
  state.attention_sums =
      DeviceTensor(run.device, "sums of " + state.label, Dtype::fp32, std::vector<std::int64_t>{alive.rows, widest});
}

/// The tables by which pairs turn, of all rows; made as the kernel of either direction claims.
void add_turns(Run& run, LayerState& state) {
  if (state.layer->kind != kinds::rotary) return;
  const RotaryPairs pairs(*state.layer, state.in);
  const auto made = [&](const std::string& operation) {
    const TableOf table = run.kernels.claim(operation).algorithm == "table" ? TableOf::binary64 : TableOf::stored_fp32;
    return DeviceTensor(run.device, "turns of " + state.label,
                        turns_of(*state.layer, pairs, positions_of(run.c), table, run.c.precision.storage));
  };
  state.turns = made("rotary.forward");
  state.turns_back = made("rotary.backward");
}

/// What a layer that looks rows up reads them by, and what its gradient needs.
void add_look_up(Run& run, LayerState& state, const Alive& alive) {
  const Contract& contract = contract_of("layer", *state.layer);
  state.reads_tokens = contract.reads_tokens;
  state.reads_positions = contract.reads_positions;
  if (!looks_up(contract) || !state.weight->trains) return;
  const bool by_atomics = run.kernels.claim("embedding.gradient").variant == "atomic_add";
  if (by_atomics)
    state.table_sums = DeviceTensor(run.device, "sums of " + state.label, Dtype::fp32, state.weight->copy.shape);
  else
    state.row_order = DeviceTensor(run.device, "order of " + state.label, Dtype::i64, {alive.rows});
}

bool is_recomputed(const Execution& execution, const std::string& label) {
  const std::vector<std::string>& some = execution.recomputed;
  return execution.recompute && (some.empty() || std::ranges::find(some, label) != some.end());
}

/// Whether the gradients that a layer's readers give are summed here: of one that ends a part of a pipeline, where they
/// are.
bool sums_readers(const Run& run, std::size_t i) {
  if (!run.pipelined()) return true;
  const std::size_t part = part_with(run.c, i) + std::size_t{is_summed_behind(run.c, i)};
  return stage_of_part(run.c, part) == static_cast<std::size_t>(run.pipe_rank);
}

void add_layer(Run& run, std::size_t i, const Graph& graph, const Alive& alive) {
  const Layer& layer = run.c.model.layers[i];
  LayerState& state = run.layers.emplace_back();
  state.layer = &layer;
  state.steps = &layer_steps(layer.kind);
  state.index = i;
  state.label = label_of(run.c.model, i);
  state.family = kernel_family_of(layer);
  state.inputs = graph.inputs[i];
  state.readers = graph.readers[i];
  const Contract& contract = contract_of("layer", layer);
  const LayerInput first = graph.inputs[i].front();
  state.in = first == model_input ? run.c.model.input : run.layers[static_cast<std::size_t>(first)].out;
  state.out = contract.out_features(layer, state.in);
  state.hands_on = contract.hands_gradient_on;
  state.gives_dx = std::ranges::any_of(state.inputs, [&](LayerInput from) {
    return from != model_input && graph.reached[static_cast<std::size_t>(from)];
  });
  state.has_gradient = graph.reached[i];
  state.recomputed = is_recomputed(run.c.execution, state.label);
  state.elsewhere = run.pipelined() && stage_with(run.c, i) != static_cast<std::size_t>(run.pipe_rank);
  if (state.has_gradient && state.readers.size() > 1 && sums_readers(run, i))
    state.dy = DeviceTensor(run.device, "d." + state.label + ".y", run.c.precision.storage, {alive.rows, state.out});
  if (state.elsewhere) return;
  state.weight =
      layer.tied.empty() ? add_parameter(run, layer, "weight", alive) : &run.parameter(parameter_name(layer, "weight"));
  state.bias = add_parameter(run, layer, "bias", alive);
  const Dtype storage = run.c.precision.storage;
  if (!run.pipelined())  // else every micro-batch has its own (pipeline.cpp)
    state.y = DeviceTensor(run.device, state.label + ".y", storage, {alive.rows, state.out});
  if (state.gives_dx && !state.hands_on)
    state.dx = DeviceTensor(run.device, "d." + state.label + "." + input_word(layer, state.inputs.size(), 0), storage,
                            {alive.rows, state.in});
  add_look_up(run, state, alive);
  add_turns(run, state);
  add_more_inputs(run, state, alive);
  if (layer.kind == kinds::dropout) state.mask = optional_tensor(run.device, run.c, state.label + ".mask");
  if (layer.kind == kinds::attention && drops_weights(layer))
    state.mask = DeviceTensor(run.device, state.label + ".mask", masks_by_micro_batch(run.c, state.label));
  add_statistics(run, state, alive);
}

/// A parameter that several layers read: each has a gradient of its own, which `share` adds.
void share_gradients(Run& run) {
  for (const SharedParameter& shared : shared_parameters(run.c.model)) {
    if (run.layers[shared.users.front()].elsewhere) continue;  // and so are all others (pipeline.hpp)
    const Parameter& parameter = run.parameter(shared.name);
    for (const std::size_t user : shared.users) {
      LayerState& layer = run.layers[user];
      layer.shared_gradient = DeviceTensor(run.device, "gradient of " + shared.name + " by " + layer.label,
                                           parameter.gradient.dtype, parameter.gradient.shape);
    }
  }
}

}  // namespace

void add_layers(Run& run, const Alive& alive) {
  run.layers.reserve(run.c.model.layers.size());
  const Graph graph = graph_of(run.c.model);
  for (std::size_t i = 0; i < run.c.model.layers.size(); ++i) add_layer(run, i, graph, alive);
  share_gradients(run);
}

}  // namespace tally
