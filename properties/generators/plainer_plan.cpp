#include "properties/generators/plainer_plan.hpp"

#include <algorithm>
#include <vector>

#include "oracle/case/kinds.hpp"
#include "oracle/layers/contract.hpp"
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"

namespace tally {
namespace {

/// Norms, dropout and sums are left out, and every other function is ReLU. Layers that read several others which are
/// not alike stay as they are.
std::vector<Layer> plain_layers(const std::vector<Layer>& layers) {
  if (std::ranges::any_of(layers, [](const Layer& l) { return !contract_of("layer", l).input_words.empty(); }))
    return layers;
  std::vector<Layer> plain = layers;
  take_out_if(plain, [](const Layer& each) { return is_norm(each) || each.kind == "dropout" || each.kind == "add"; });
  for (Layer& each : plain)
    if (each.kind != "linear") each = layer("relu");
  return plain;
}

}  // namespace

Plan plainer(Plan plan, const Plainness& plain) {
  if (plain.formats) {
    plan.precision.compute = plan.precision.accumulate = plan.precision.master = Dtype::fp32;
    plan.precision.tf32 = false;
  }
  if (plain.layers) plan.hidden = plain_layers(plan.hidden);
  if (!plain.recipe) return plan;
  Recipe& recipe = plan.recipe;
  if (recipe.optimizer.kind != "sgd") recipe.optimizer = choice("optimizer", "sgd");
  if (recipe.learning_rate.kind != "constant")
    recipe.learning_rate = choice("learning_rate", "constant", {{"base", Decimal{"0.125"}}});
  recipe.weight_decay = choice("weight_decay", "none");
  recipe.clip = choice("clip", "none");
  recipe.loss_scale = choice("loss_scale", "none");
  plan.loss = choice("loss", plan.loss.kind);
  plan.execution.recompute = false;
  return plan;
}

}  // namespace tally
