// The dropout of an adapter left out, forth or back.
#pragma once

#include <vector>

#include "kernels/training_step/stages.hpp"

namespace tally {

/// A stage with other steps of every dropout on an adapter's input: one that reads what a frozen linear layer reads.
void with_adapter_dropout(Run& run, const LayerSteps& steps, Stage stage);

/// `to` = what lies between `from` ∘ m f, as `right` leaves it, and `from`, over the rows of micro-batch k.
void without_dropout(Run& run, LayerState& layer, int k, const void* from, void* to,
                     void (*right)(Run& run, LayerState& layer, int k));

}  // namespace tally
