// The weight gradient of a linear layer: written to a tensor of its own, or added to the accumulation buffer by the
// product itself (beta = 1). A case chooses by execution.kernels, "linear.weight_gradient": "separate" | "into_buffer".
#pragma once

#include <map>
#include <string>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

/// Whether products of this run add weight gradients to their buffers. False without a buffer, where the buffer's
/// format is no product's result (it is fp32, or the storage format, which an fp16 accumulator demands), where its
/// additions are compensated, where the last layer is one with the loss and gives its gradient stored, and under a stage
/// table that replaces a stage which reads or writes single gradients.
/// Under one that replaces the product a case's choice counts for nothing; the table's own does.
bool adds_by_product(const Run& run, const std::map<std::string, std::string>& chosen);

/// What such a run claims, and the group of stages between which those gradients leave no tap.
void claim_added_products(Run& run);

/// `call` gives the gradient of the layer's weight by micro-batch k. Its buffer's bits before and after are taps of `accumulate`.
void compute_weight_gradient(Run& run, LayerState& layer, int k, GemmCall call);

}  // namespace tally
