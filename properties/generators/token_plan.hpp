// Plans of models over tokens: an embedding, few layers, attention in residual blocks, a loss over the vocabulary.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

// Models over tokens: an embedding, maybe learned positions, few layers, and a loss over the vocabulary.

/// Makes the plan one over tokens, as its seed draws: the vocabulary, the width, positions, layers and sequences; of
/// the loss the labels shifted in two plans of three. Formats, recipe and the cut of windows stay.
void read_tokens(Plan& plan);

/// The last layer of a plan over tokens is tied, and so are linear layers in the middle, until the table has as many
/// users as are drawn.
void tie_more(Plan& plan);

// Plans of models over tokens whose rows read each other: attention in a residual block, as a language model has it.

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
