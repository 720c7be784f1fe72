// The route over AVX-512 IFMA: 52 x 52 bits a lane, the high or the low half of the product added to a 64-bit sum.
#pragma once

#include "oracle/fixed/tile.hpp"

namespace tally::oracle::fixed {

/// The processor has AVX-512 F and IFMA, and this program was compiled for a processor that may.
bool has_ifma();

/// Sums are carried after `inner` terms, at most 256; `threads` share what is done before the tiles. Keeps references:
/// the operands must live on. Only where has_ifma().
TileWork ifma_route(const Operands& operands, Eigen::Index inner, int threads);

}  // namespace tally::oracle::fixed
