// Models over tokens: an embedding, maybe learned positions, few layers, and a loss over the vocabulary.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Makes the plan one over tokens, as its seed draws: the vocabulary, the width, positions, layers and sequences; of
/// the loss the labels shifted in two plans of three. Formats, recipe and the cut of windows stay.
void read_tokens(Plan& plan);

/// The last layer of a plan over tokens is tied, and so are linear layers in the middle, until the table has as many
/// users as are drawn.
void tie_more(Plan& plan);

}  // namespace tally
