// Faults of low-rank adapters and of the parameters that are frozen beside them.
#include "properties/faults/layers/adapters.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "kernels/layer_arguments.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/planted_change.hpp"
#include "properties/faults/seeded.hpp"
#include "properties/generators/choices.hpp"

namespace tally {
namespace {

bool is_of_an_adapter(const Run& run, const LayerState& layer) {
  return layer.layer->kind == "dropout" && std::ranges::any_of(run.layers, [&](const LayerState& other) {
           return other.layer->kind == "linear" && !other.layer->trainable && other.inputs == layer.inputs;
         });
}

}  // namespace

void with_adapter_dropout(Run& run, const LayerSteps& steps, Stage stage) {
  std::vector<const LayerSteps*> shipped;
  for (LayerState& layer : run.layers) {
    shipped.push_back(layer.steps);
    if (is_of_an_adapter(run, layer)) layer.steps = &steps;
  }
  stage(run);
  for (std::size_t i = 0; i < shipped.size(); ++i) run.layers[i].steps = shipped[i];
}

void without_dropout(Run& run, LayerState& layer, int k, const void* from, void* to,
                     void (*right)(Run& run, LayerState& layer, int k)) {
  const Dtype storage = run.c.precision.storage;
  const std::int64_t elements = run.rows(k) * layer.in;
  between(
      run.stream, {{to, storage, elements}}, [&] { right(run, layer, k); },
      [&] {
        run.stream.synchronize();
        Tensor kept(storage, {elements});
        run.device.read(from, kept.bytes.data(), kept.bytes.size());
        run.device.write(to, kept.bytes.data(), kept.bytes.size());
      });
}

}  // namespace tally

// An adapter has a dropout that is never applied: what is dropped goes into the product.
namespace tally::lora_dropout_never_fault {
namespace {

void kept(Run& run, LayerState& layer, int k) {
  without_dropout(run, layer, k, run.x_of(layer, k), run.y_of(layer, k), layer_steps("dropout").forward);
}

void forward(Run& run) {
  static const LayerSteps steps{kept, layer_steps("dropout").backward};
  with_adapter_dropout(run, steps, stage::forward);
}

const RegisterFault registered{{
    .name = "lora-dropout-never",
    .stage = "forward",
    .right = "a = (x m f) A",
    .wrong = "a = x A",
    .condition = "dropout on an adapter's input",
    .knob = "value",
    .source = "meta-pytorch/torchtune 996",
    .laws = {"a_zero_b_is_the_base_model", "frozen_keeps_its_bits"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::lora_dropout_never_fault

// What an adapter gives back to its input goes past its dropout: elements that were dropped have a gradient.
namespace tally::lora_dropout_not_in_dx_fault {
namespace {

void handed_on(Run& run, LayerState& layer, int k) {
  if (!layer.gives_dx) return;
  without_dropout(run, layer, k, run.dy_of(layer, k), run.dx_of(layer, k), layer_steps("dropout").backward);
}

void backward(Run& run) {
  static const LayerSteps steps{layer_steps("dropout").forward, handed_on};
  with_adapter_dropout(run, steps, stage::backward);
}

const RegisterFault registered{{
    .name = "lora-dropout-not-in-dx",
    .stage = "backward",
    .right = "dx = dy W + (da A) m f",
    .wrong = "dx = dy W + da A",
    .condition = "dropout on an adapter's input, and layers before it that train",
    .knob = "value",
    .source = "foundation-model-stack/fms-acceleration 97",
    .laws = {"a_zero_b_is_the_base_model", "frozen_keeps_its_bits"},
    .stages = replaced<&Stages::backward, backward>,
}};

}  // namespace
}  // namespace tally::lora_dropout_not_in_dx_fault

// An adapter's gradients are those of an adapter that is not scaled.
namespace tally::lora_scale_missing_in_backward_fault {
namespace {

void otherwise(Stream& stream, ScaleArguments arguments, Kernel<ScaleArguments> right) {
  arguments.factor = 1;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty =
      with_kernel_around<otherwise>("scale.backward", "grid_stride", "lora-scale-missing-in-backward");
  return faulty;
}

const RegisterFault registered{{
    .name = "lora-scale-missing-in-backward",
    .stage = "backward",
    .right = "da = s dy B",
    .wrong = "da = dy B",
    .condition = "an adapter whose factor is not 1",
    .knob = "none",
    .source = "source mutation: a factor dropped",
    .laws = {"an_adapter_equals_merged_weights"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::lora_scale_missing_in_backward_fault

// What an adapter adds is scaled by alpha, and not by alpha / r.
namespace tally::lora_scaled_by_alpha_fault {
namespace {

/// The rank behind a scale layer: the features that enter the product which it reads; 1: it reads none.
std::int64_t rank_behind(const Run& run, const LayerState& scale) {
  const LayerInput from = scale.inputs.front();
  if (from == model_input) return 1;
  const LayerState& product = run.layers[static_cast<std::size_t>(from)];
  return product.layer->kind == "linear" ? product.in : 1;
}

void forward(Run& run) {
  std::deque<Layer> others;
  std::vector<const Layer*> right;
  for (LayerState& layer : run.layers) {
    right.push_back(layer.layer);
    if (layer.layer->kind != "scale") continue;
    Layer& other = others.emplace_back(*layer.layer);
    other.options["factor"] =
        decimal(other.number("factor").to_double() * static_cast<double>(rank_behind(run, layer)));
    layer.layer = &other;
  }
  stage::forward(run);
  for (std::size_t i = 0; i < right.size(); ++i) run.layers[i].layer = right[i];
}

const RegisterFault registered{{
    .name = "lora-scaled-by-alpha",
    .stage = "forward",
    .right = "y = x W + (alpha / r) x A B",
    .wrong = "y = x W + alpha x A B",
    .condition = "an adapter of a rank above 1",
    .knob = "none",
    .source = "Blaizzy/mlx-vlm 841, hao-ai-lab/FastVideo 870",
    .laws = {"an_adapter_equals_merged_weights"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::lora_scaled_by_alpha_fault

// A checkpointed part whose input needs no gradient, as frozen layers stand before it, is taken for one that has none:
// its adapters' gradients are zero.
namespace tally::checkpoint_drops_adapter_gradients_fault {
namespace {

void share(Run& run) {
  stage::share(run);
  if (!run.c.execution.recompute || run.frozen.empty()) return;
  for (Parameter& parameter : run.parameters) {
    if (parameter.into_buffer) continue;
    void* gradient = run.gradient_of(&parameter, run.micro_batch);
    const Dtype storage = run.c.precision.storage;
    change(run, gradient, storage, parameter.elements, [](std::size_t, double value) { return blend(value, 0.0); });
    run.tap("backward", "d." + parameter.name, gradient, storage, parameter.master.shape);
  }
}

const RegisterFault registered{{
    .name = "checkpoint-drops-adapter-gradients",
    .stage = "backward",
    .right = "the gradient of an adapter behind a frozen layer",
    .wrong = "zero",
    .condition = "a frozen layer, recomputation",
    .knob = "value",
    .source = "huggingface/transformers 21381, cloneofsimo/lora 26, locuslab/open-unlearning 178",
    .laws = {"recomputation_keeps_adapters_training"},
    .stages = replaced<&Stages::share, share>,
}};

}  // namespace
}  // namespace tally::checkpoint_drops_adapter_gradients_fault

// Frozen parameters decay with the others: the optimizer was given all of them.
namespace tally::frozen_decays_fault {
namespace {

constexpr double decay_of_a_step = 0x1p-6;

void decay(Run& run, Parameter& parameter) {
  Tensor master = parameter.master.read();
  for (std::size_t i = 0; i < master.elements(); ++i) master.set(i, master.value(i) * blend(1.0, 1 - decay_of_a_step));
  run.device.write(parameter.master.data(), master.bytes.data(), master.bytes.size());
}

void cast(Run& run) {
  for (Parameter& parameter : run.frozen)
    if (run.window > 0) decay(run, parameter);
  stage::cast(run);
}

const RegisterFault registered{{
    .name = "frozen-decays",
    .stage = "cast",
    .right = "a frozen parameter stands still",
    .wrong = "a frozen parameter becomes smaller in every step",
    .condition = "a frozen layer, two windows",
    .knob = "value",
    .source = "ahrefs/ocannl 673",
    .laws = {"frozen_keeps_its_bits"},
    .stages = replaced<&Stages::cast, cast>,
}};

}  // namespace
}  // namespace tally::frozen_decays_fault

// The norm that clipping uses goes over frozen parameters as well: what it reads there is no gradient.
namespace tally::frozen_in_the_norm_fault {
namespace {

void norm(Run& run) {
  stage::norm(run);
  if (run.frozen.empty()) return;
  std::vector<DeviceTensor> read;  // a norm is taken over fp32
  std::vector<NormSource> sources;
  for (Parameter& each : run.parameters) sources.push_back({each.unscaled.as<float>(), each.elements});
  for (Parameter& each : run.frozen) {
    const Tensor master = each.master.read();
    Tensor value(Dtype::fp32, master.shape);
    for (std::size_t i = 0; i < master.elements(); ++i) value.set(i, master.value(i));
    read.emplace_back(run.device, "what a norm reads of " + each.name, value);
    sources.push_back({read.back().as<float>(), each.elements});
  }
  norm_over(run, sources);
}

const RegisterFault registered{{
    .name = "frozen-in-the-norm",
    .stage = "norm",
    .right = "the norm of the gradients of what trains",
    .wrong = "the norm of these and of frozen parameters",
    .condition = "a frozen layer, an active clip by norm",
    .knob = "value",
    .source = "ahrefs/ocannl 673",
    .laws = {"frozen_keeps_its_bits"},
    .stages = replaced<&Stages::norm, norm>,
}};

}  // namespace
}  // namespace tally::frozen_in_the_norm_fault
