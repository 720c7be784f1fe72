// Products of matrices in fixed point, by three routes that give the same bits (oracle/fixed.md).
#pragma once

#include "oracle/fixed/matrix.hpp"

namespace tally::oracle::fixed {

/// How a product is computed; its bits do not depend on it.
enum class Route {
  exact,  // whole numbers of 128 bits (oracle/fixed/exact_sum.cpp)
  ifma,   // AVX-512 IFMA (oracle/fixed/ifma.cpp)
  blas,   // residues on products of doubles, OpenBLAS's where it is there (oracle/fixed/residue_product.cpp)
};

/// Whether this processor can.
bool available(Route route);
/// IFMA where there is, else residues.
Route fastest_route();
/// "AVX-512 IFMA", "residues on OpenBLAS", "residues on doubles" or "whole numbers of 128 bits".
std::string name_of(Route route);

/// How the work is cut; no bit depends on it. Numbers below 1 count as 1.
struct Schedule {
  int threads = 1;
  Eigen::Index tile_rows = 256, tile_columns = 256;
  Eigen::Index inner = 256;  // terms between two carries
};

/// left right, [m, p] from left [m, n] scaled by rows and right [n, p] scaled by columns. With the exact sum
/// S = sum over k of A_ik B_kj of the numbers held and d = h + g + ceil(log2 n) (oracle/fixed/format.hpp),
///   result = floor(S / 2^d + 1/2),
/// scaled by the rows of left and the columns of right times 2^d. Its radius in units of the result is
///   1/2 + n 2^(h - d) (left radius of row i (1 + r 2^-h) + right radius of column j),   r the largest right radius,
/// rounded upward; the 1/2 is in the rows. Throws std::logic_error where sizes or limbs differ, an operand is scaled on
/// the wrong side or the route is not available, and std::length_error above 2^20 terms.
FixedMatrix product(const FixedMatrix& left, const FixedMatrix& right, Route route = fastest_route(),
                    const Schedule& schedule = {});

}  // namespace tally::oracle::fixed
