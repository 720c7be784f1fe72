// Low-rank adapters on frozen layers, as fine-tuning has them: y = x Wᵀ + b + s · ((x ∘ m f) Aᵀ) Bᵀ, where W and b stand
// still and A and B train; m f is dropout on the adapter's input, which not every adapter has.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

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
