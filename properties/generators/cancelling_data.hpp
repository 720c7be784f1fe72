// Data for which every sum is exact in any order, though partial sums need all the bits of an fp32 accumulator.
#pragma once

#include "properties/generators/plan.hpp"

namespace tally {

/// Redraws x, the only layer's weight and bias, and the target of a model of four inputs, one linear layer and mse.
///   x = (u a, q, u b, r),  w = (v b, s, -v a, t)   a, b, u, v odd, their products as wide as the storage format
/// so u v a b cancels and y is a small integer; and the target lies y less a power of two. In a micro-batch of three
/// rows the first and the last are the same but for the sign of that power, 2^12 times the one between them: their
/// gradients cancel too. Micro-batches have at most three rows. Odd micro-batches of other sizes have larger gradients
/// than even ones, so that the window's sum is wide. Every stored tensor fits its format, yet a product of fewer than
/// 11 (fp32: 12) bits an operand, or a sum in fewer than 16 bits, leaves other bits.
void draw_cancelling(const Plan& plan, Case& c);

}  // namespace tally
