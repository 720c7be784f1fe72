// Data and a small language model for which every sum is exact in any order.
#pragma once

#include "oracle/case/case.hpp"
#include "properties/generators/plan.hpp"

namespace tally {

// Data for which every sum is exact in any order, though partial sums need all the bits of an fp32 accumulator.

/// Redraws x, the only layer's weight and bias, and the target of a model of four inputs, one linear layer and mse.
///   x = (u a, q, u b, r),  w = (v b, s, -v a, t)   a, b, u, v odd, their products as wide as the storage format
/// so u v a b cancels and y is a small integer; and the target lies y less a power of two. In a micro-batch of three
/// rows the first and the last are the same but for the sign of that power, 2^12 times the one between them: their
/// gradients cancel too. Micro-batches have at most three rows. Odd micro-batches of other sizes have larger gradients
/// than even ones, so that the window's sum is wide. Every stored tensor fits its format, yet a product of fewer than
/// 11 (fp32: 12) bits an operand, or a sum in fewer than 16 bits, leaves other bits.
void draw_cancelling(const Plan& plan, Case& c);

// A small language model whose attention selects, so that every sum in it is exact in any order: embedding, attention,
// residual sum, linear layer and ReLU, linear head, squared error.

/// The model over the first window, the sequences and the storage format of `c`, whose tokens it takes as a draw.
/// Sequences are of at most 8 rows.
///
/// A token has one of four codes a of four elements ±1, each orthogonal to the others, an element 1 and three free ones.
/// By its weights q = (8 a, 32, 0) and k = (16 a, -16, free), so that q · k / 4 is 0 for rows of one code, and -128 for
/// all others, whose weight e^-128 no format of 32 bits tells from 0. Each code stands in a sequence once or twice, in
/// rows that follow each other: every weight is 1 or 1/2, and values, targets and other weights are multiples of 1/2 of
/// few digits.
Case selecting_model(const Case& c);

}  // namespace tally
