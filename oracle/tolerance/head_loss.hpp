// The last linear layer and the softmax cross-entropy as one, whose logits are fp32 and leave no tap (claim
// `head_loss`). Derivation: oracle/variants.md, "Head and loss as one".
#pragma once

#include "oracle/tolerance/rule.hpp"

namespace tally::oracle {

/// Whether the subject runs the two as one.
bool fuses_head_and_loss(const Declared& declared);

// The rules of such a subject, as linear's and cross_entropy's own.

/// The logits, fp32.
ExpectedForward head_forward(const BoundPass& pass, const Expected& x);
/// Each row's loss, and the logits' gradients, fp32.
ExpectedLoss head_loss(const Choice& loss, const Declared& declared, const Expected& y,
                       const Matrix<long double>& target, const Matrix<long double>& item_weight,
                       const Expected& row_factor);
/// dx and the parameters' gradients, stored.
ExpectedBackward head_backward(const BoundPass& pass, const Expected& x, const Expected& dy);

}  // namespace tally::oracle
