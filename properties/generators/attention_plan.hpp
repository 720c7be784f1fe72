// Plans of models over tokens whose rows read each other: attention in a residual block, as a language model has it.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// How q, k and v come to attention: as the seed draws; each of a linear layer of its own; q and k turned by rotary
/// layers, and no other positions; all three slices of one product.
enum class QueriesAndKeys { drawn, apart, turned, fused };

/// A token plan (read_tokens) with one or two blocks of attention in the place of its hidden layers: heads, their
/// features, the pairs that turn, keys and windows at declared sizes, fewer heads of k and v than of q, causal or not, a
/// scale of its own, rotary positions, a norm before it, a small network behind it, gated or not. As the plan's seed
/// draws.
void attend(Plan& plan, QueriesAndKeys made = QueriesAndKeys::drawn);

/// The attention layers of a model, by index.
std::vector<std::size_t> attention_layers(const Model& model);

}  // namespace tally
