// Gated layers with each activation, of the same gate and the same factor: from the middle of the activation to its
// tails.
#include "properties/generators/choices.hpp"
#include "properties/generators/residual_blocks.hpp"
#include "properties/studies/language_models/drawing.hpp"
#include "properties/studies/language_models/family.hpp"

namespace tally::gated_study {
namespace {

constexpr std::array activations{"silu", "gelu", "gelu_tanh"};

Case drawn(Dtype storage, std::uint64_t seed, std::uint64_t number) {
  executor::Schedule random = numbers_for(seed, number, "gated");
  constexpr std::array<double, 4> sizes{1, 0x1p-6, 4, 0x1p-2};
  const std::int64_t rows = one_of(random, std::array<std::int64_t, 4>{4, 17, 40, 100});
  const std::int64_t out = one_of(random, std::array<std::int64_t, 4>{16, 33, 64, 100});
  Plan plan = plain_plan(storage, random, rows, 8);
  plan.input = 40;
  plan.hidden = {reading(layer("linear", "gate", {{"out", out}}), {"wte"}),
                 reading(layer("linear", "up", {{"out", out}}), {"wte"})};
  for (const char* activation : activations)
    plan.hidden.push_back(
        reading(layer("gated", activation, {{"activation", std::string(activation)}}), {"gate", "up"}));
  plan.hidden.push_back(sum_of("sum", {activations.begin(), activations.end()}));
  Case c = case_of(plan);
  move_table(c, sizes[number % sizes.size()]);
  return c;
}

LayerFamily gated_layers() {
  LayerFamily family{"gated layers", drawn, {}, {{}, {}}};
  OtherClaim fused{"one step", {}};
  for (const std::string activation : activations) {
    const std::string operation = "gated_" + activation, shown = "gated " + activation;
    family.tensors.push_back({"forward", activation + ".y", shown + " y", operation + ".forward"});
    family.tensors.push_back({"backward", "d." + activation + ".gate", shown + " d.gate", operation + ".backward"});
    family.tensors.push_back({"backward", "d." + activation + ".up", shown + " d.up", operation + ".backward"});
    for (const char* direction : {".forward", ".backward"}) {
      family.ways[1].kernels[operation + direction] = "two_step";
      fused.algorithms[operation + direction] = "fused";
    }
  }
  family.ways[1].others = {fused};
  return family;
}

const RegisterLayerFamily registered(4, gated_layers());

}  // namespace
}  // namespace tally::gated_study
