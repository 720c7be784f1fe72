// How a step evaluates cross-entropy, alone and as one with the layer before it.
#pragma once

#include <map>
#include <string>

#include "kernels/training_step/run/run_state.hpp"

namespace tally {

// What the kernels of cross_entropy take of a run.

/// The arguments of micro-batch k, with its logits and where their gradients go.
CrossEntropyArguments cross_entropy_arguments(const Run& run, int k, const void* z, std::int64_t classes, float* losses,
                                              void* dz);

// The last layer and the loss as one (operation `head_loss`), where a case chooses that: forward leaves the logits out,
// the loss's stage does all, backward taps what that left. A case chooses by execution.kernels, "head_loss": "chunked".

inline constexpr const char* head_loss_operation = "head_loss";

/// Whether the case names that kernel, ends with a linear layer before cross_entropy, and so can run it. The choice
/// counts for nothing in another case.
bool names_head_loss(const Case& c);
/// Whether this run fuses the two.
bool fuses_head_and_loss(const Run& run);
/// The same of one of its layers: it is the last one of such a run.
bool is_fused_head(const Run& run, const LayerState& layer);

/// In the place of what the layer and the loss keep otherwise: logits and their gradients of one chunk, and the sums of
/// the parameters' gradients. Once its layers stand.
void add_head_and_loss(Run& run);
/// The group of stages between which logits leave no tap.
void declare_head_and_loss(Run& run);
/// Losses, dx and the parameters' gradients of micro-batch run.micro_batch.
void run_head_and_loss(Run& run);

}  // namespace tally
