// The frequencies are kept in bf16: a buffer of the module that was cast with its weights.
#include <cmath>

#include "oracle/case/sequences.hpp"
#include "oracle/layers/rotary.hpp"
#include "properties/faults/seeded.hpp"

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
