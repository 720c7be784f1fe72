// What the kinds of a case's sections do to a window, as their contracts say (oracle/losses, oracle/recipe). Each
// throws std::logic_error for a kind without a contract, naming section and kind.
#pragma once

#include "oracle/case/case.hpp"

namespace tally {

/// Whether what the layer, or the loss, computes is not stated.
bool is_opaque(const Layer& layer);
bool is_opaque(const Choice& loss);
/// Whether the model is one opaque layer: its outputs and gradients are a capture's.
bool is_opaque(const Model& model);
/// Whether some layer looks up rows by each row's place in its sequence.
bool reads_positions(const Model& model);
/// Whether some layer reads other rows of a row's sequence.
bool reads_sequences(const Model& model);
/// Whether it is what weight_decay's "norm" excludes.
bool is_norm(const Layer& layer);
/// Throws InvalidCase where something of the model is not stated, so that it can be judged and neither run nor
/// differentiated.
void require_stated(const Case& c);

/// Whether a row's target is the number of its class; else it is a row of the model's outputs.
bool has_class_targets(const Choice& loss);

/// The number of the case that scales the loss of the first window; nullptr where the loss is not scaled.
const Decimal* written_scale(const Choice& loss_scale);
/// Whether a window whose gradients are not finite is skipped, and the scale moves from window to window: the stages
/// overflow_check and scaler are there.
bool checks_overflow(const Choice& loss_scale);

/// Whether gradients are clipped: the stage clip is there.
bool clips(const Choice& clip);
/// Whether they are clipped by a norm of all of them: the stage norm is there.
bool clips_by_norm(const Choice& clip);

/// Whether parameters decay: the stage decay is there.
bool decays(const Choice& weight_decay);
/// Whether the decay goes into the gradient; else it goes into the parameter.
bool decays_gradient(const Choice& weight_decay);

}  // namespace tally
