// The route over the BLAS: products of residues modulo many small numbers, each exact in double (Chinese remainders).
#pragma once

#include "oracle/fixed/tile.hpp"

namespace tally::oracle::fixed {

/// `inner` terms of residues are multiplied at once. Keeps references: the operands must live on. Only where
/// there is a blas().
TileWork residue_route(const Operands& operands, Eigen::Index inner);

}  // namespace tally::oracle::fixed
