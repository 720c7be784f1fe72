#include "properties/generators/plainer_plan.hpp"

#include <vector>

#include "properties/generators/choices.hpp"

namespace tally {
namespace {

/// Norms and dropout are left out, and every other function is ReLU.
std::vector<Layer> plain_layers(const std::vector<Layer>& layers) {
  std::vector<Layer> plain;
  for (const Layer& each : layers) {
    if (each.kind == "batch_norm" || each.kind == "layer_norm" || each.kind == "dropout") continue;
    plain.push_back(each.kind == "linear" ? each : layer("relu"));
  }
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
