// A small language model whose attention selects, so that every sum in it is exact in any order: embedding, attention,
// residual sum, linear layer and ReLU, linear head, squared error.
#pragma once

#include "oracle/case/case.hpp"

namespace tally {

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
