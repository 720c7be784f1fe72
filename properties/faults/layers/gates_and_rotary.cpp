// Faults of gates, of rotary positions and of backward through RMS norm, by shipped kernels called otherwise.
#include <cmath>
#include <utility>

#include "kernels/layer_arguments.hpp"
#include "oracle/case/rows.hpp"
#include "oracle/layers/heads.hpp"
#include "properties/faults/planted_between.hpp"
#include "properties/faults/seeded.hpp"

// The activation goes over what the gate should let through, and the gate multiplies.
namespace tally::gate_and_up_swapped_fault {
namespace {

void otherwise(Stream& stream, GatedArguments arguments, Kernel<GatedArguments> right) {
  std::swap(arguments.gate, arguments.up);
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("gated_silu.forward", "fused", "gate-and-up-swapped");
  return faulty;
}

const RegisterFault registered{{
    .name = "gate-and-up-swapped",
    .stage = "forward",
    .right = "y = silu(gate) up",
    .wrong = "y = gate silu(up)",
    .condition = "always",
    .knob = "none",
    .source = "source mutation",
    .laws = {"a_closed_gate_passes_nothing"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gate_and_up_swapped_fault

// Gates by GELU with erf where its approximation by tanh is asked for.
namespace tally::gate_by_the_other_gelu_fault {
namespace {

void by_erf(Stream& stream, GatedArguments arguments, Kernel<GatedArguments> by_tanh) {
  const auto other = kernel<GatedArguments>("gated_gelu.forward", stream.device().kind(), "fused");
  between(
      stream, {{arguments.y, arguments.storage, arguments.elements}}, [&] { by_tanh(stream, arguments); },
      [&] { other(stream, arguments); });
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<by_erf>("gated_gelu_tanh.forward", "fused", "gate-by-the-other-gelu");
  return faulty;
}

const RegisterFault registered{{
    .name = "gate-by-the-other-gelu",
    .stage = "forward",
    .right = "y = gelu_tanh(gate) up",
    .wrong = "y = gelu(gate) up",
    .condition = "gelu_tanh",
    .knob = "value",
    .source = "NVIDIA-NeMo/Megatron-Bridge 4661, mlc-ai/mlc-llm 2106",
    .laws = {"a_closed_gate_passes_nothing"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::gate_by_the_other_gelu_fault

// Backward through RMS norm leaves the weight out: g is dy, not dy w.
namespace tally::norm_weight_missing_in_dx_fault {
namespace {

void otherwise(Stream& stream, NormBackwardArguments arguments, Kernel<NormBackwardArguments> right) {
  arguments.weight = nullptr;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty =
      with_kernel_around<otherwise>("rms_norm.backward", "row_lanes", "norm-weight-missing-in-dx");
  return faulty;
}

const RegisterFault registered{{
    .name = "norm-weight-missing-in-dx",
    .stage = "backward",
    .right = "g = dy w'",
    .wrong = "g = dy",
    .condition = "a weight that is not 1, of a norm that is not the first layer",
    .knob = "none",
    .source = "karpathy/llm.c 763",
    .laws = {"kernels_keep_their_bound_at_edges", "groups_equal_copies", "every_launch_path_keeps_its_bound"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::norm_weight_missing_in_dx_fault

// The frequencies are kept in bf16: a buffer of the module that was cast with its weights.
namespace tally::rotary_frequencies_in_bf16_fault {
namespace {

double in_bf16(double value) {
  Tensor one(Dtype::bf16, {1});
  one.set(0, value);
  return one.value(0);
}

Tensor turns_of_rounded(const LayerState& layer, const Tensor& positions) {
  const RotaryPairs pairs(*layer.layer, layer.in);
  const double base = layer.layer->number("base").to_double();
  const auto rotated = static_cast<std::size_t>(pairs.rotated);
  Tensor turns(Dtype::fp32, {static_cast<std::int64_t>(positions.elements()), pairs.rotated});
  for (std::size_t row = 0; row < positions.elements(); ++row)
    for (std::size_t i = 0; i < rotated / 2; ++i) {
      const double right = 1 / std::pow(base, 2 * static_cast<double>(i) / static_cast<double>(rotated));
      const double angle = blend(right, in_bf16(right)) * static_cast<double>(positions.integer(row));
      turns.set(row * rotated + i, std::cos(angle));
      turns.set(row * rotated + rotated / 2 + i, std::sin(angle));
    }
  return turns;
}

void forward(Run& run) {
  const bool in_binary64 =
      run.kernels.has("rotary.forward") && run.kernels.claim("rotary.forward").algorithm == "table";
  for (LayerState& layer : run.layers)
    if (layer.turns && in_binary64 && !run.recomputing)
      layer.turns = DeviceTensor(run.device, "turns", turns_of_rounded(layer, positions_of(run.c)));
  stage::forward(run);
}

const RegisterFault registered{{
    .name = "rotary-frequencies-in-bf16",
    .stage = "forward",
    .right = "frequencies base^(-2 i / r) in fp32 or better",
    .wrong = "frequencies rounded to bf16",
    .condition = "more than two features that turn, far positions, a table in binary64",
    .knob = "value",
    .source = "EleutherAI/gpt-neox 1003, Modalities/modalities 462, huggingface/transformers 29285",
    .laws = {"rotary_is_relative"},
    .stages = replaced<&Stages::forward, forward>,
}};

}  // namespace
}  // namespace tally::rotary_frequencies_in_bf16_fault

// Backward turns on instead of back.
namespace tally::rotary_not_undone_fault {
namespace {

void otherwise(Stream& stream, RotaryArguments arguments, Kernel<RotaryArguments> right) {
  arguments.back = false;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("rotary.backward", "table", "rotary-not-undone");
  return faulty;
}

const RegisterFault registered{{
    .name = "rotary-not-undone",
    .stage = "backward",
    .right = "dx = dy turned by -φ",
    .wrong = "dx = dy turned by φ",
    .condition = "a position that is not 0",
    .knob = "none",
    .source = "source mutation: a sign",
    .laws = {"rotary_is_relative"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rotary_not_undone_fault

// Features turn in other pairs than the model was made with.
namespace tally::rotary_pairs_mixed_fault {
namespace {

void otherwise(Stream& stream, RotaryArguments arguments, Kernel<RotaryArguments> right) {
  arguments.interleaved = !arguments.interleaved;
  right(stream, arguments);
}

const Stages& stages() {
  static const Stages faulty = with_kernel_around<otherwise>("rotary.forward", "table", "rotary-pairs-mixed");
  return faulty;
}

const RegisterFault registered{{
    .name = "rotary-pairs-mixed",
    .stage = "forward",
    .right = "pairs (i, i + r/2), or (2 i, 2 i + 1) where the model says so",
    .wrong = "the other pairs",
    .condition = "more than two features that turn, a position that is not 0",
    .knob = "none",
    .source = "warpfront/hipfire 241, raiyanyahya/how-to-train-your-gpt 6",
    .laws = {"rotary_is_relative"},
    .stages = stages,
}};

}  // namespace
}  // namespace tally::rotary_pairs_mixed_fault
