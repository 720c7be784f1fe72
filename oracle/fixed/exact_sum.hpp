// The portable route: every element from its exact sum, in whole numbers of 128 bits. It is also where the other routes
// send the elements that their own sums leave open.
#pragma once

#include "oracle/fixed/tile.hpp"

namespace tally::oracle::fixed {

/// Element (i, j) of the result: floor((S + 2^(d - 1)) / 2^d), S the exact sum and d the bits that are dropped.
void exact_element(const Operands& operands, Eigen::Index i, Eigen::Index j);

/// Keeps references: the operands must live on.
TileWork exact_route(const Operands& operands);

}  // namespace tally::oracle::fixed
