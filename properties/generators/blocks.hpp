// Residual blocks and low-rank adapters of a plan, and layers taken away from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/generators/plan.hpp"

namespace tally {

// Residual blocks of a plan: what an earlier layer left, added to what later ones made of it. And taking layers out of
// a model whose layers read others by name.

/// The sum of what these layers leave.
Layer sum_of(std::string name, std::vector<std::string> inputs);

/// Behind the hidden layers of one plan in four: one or two blocks, as the plan's seed draws. Outputs are read by two
/// and by three layers, sums are of two and of three, and a sum may take one output twice.
void draw_residual_blocks(Plan& plan);

/// Layer i is left out: who reads it by name reads what it read, of a sum the last.
void take_out(std::vector<Layer>& layers, std::size_t i);
/// The same for every layer that `leaves`.
void take_out_if(std::vector<Layer>& layers, const std::function<bool(const Layer&)>& leaves);

// Low-rank adapters on frozen layers, as fine-tuning has them: y = x Wᵀ + b + s · ((x ∘ m f) Aᵀ) Bᵀ, where W and b stand
// still and A and B train; m f is dropout on the adapter's input, which not every adapter has.

/// Freezes some of a plan's hidden layers, norms too, of which one may be added, and its tables; and gives frozen linear
/// ones an adapter, but not all: of the frozen layer "fc1" the layers "fc1_drop" (or none), "fc1_a", "fc1_b", "fc1_s" and
/// "fc1_sum", which those read that read fc1. At least one linear layer has an adapter, where there is one whose weight is
/// its own. As the plan's seed draws.
void add_adapters(Plan& plan);

/// Layer i without its adapter, which its readers read no more; it still stands still. False where it has none.
bool take_adapter_off(std::vector<Layer>& layers, std::size_t i);

/// The names of the frozen layers of a model that have an adapter.
std::vector<std::string> adapted_layers(const Model& model);

}  // namespace tally
