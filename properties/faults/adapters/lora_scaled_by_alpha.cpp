// What an adapter adds is scaled by alpha, and not by alpha / r.
#include <deque>

#include "properties/faults/seeded.hpp"
#include "properties/generators/choices.hpp"

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
