// Products of residues modulo many small numbers, each exact in double (Chinese remainders): by OpenBLAS, or where there
// is none by whole_product.hpp, with the same bits.
#pragma once

#include "oracle/fixed/tile.hpp"

namespace tally::oracle::fixed {

/// `inner` terms of residues are multiplied at once. Keeps references: the operands must live on.
TileWork residue_route(const Operands& operands, Eigen::Index inner);

}  // namespace tally::oracle::fixed
