// The loops of the BLAS route, over neighbours of a matrix at once. Every number in them is whole and below 2^53, so
// that no operation rounds and no order of them matters; only the quotient is rounded.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/fixed/remainders.hpp"

namespace tally::oracle::fixed {

/// Elements that the loops take at most; what they work on stays in the first cache.
constexpr std::int64_t most_at_once = 256;

/// Pieces of 26 bits of round(X / 2^cut), X of `limbs` limbs that stand `plane` apart from `digits` on:
/// to[s * stride + e] is piece s of neighbour e, s < 2 limbs.
void cut_into_pieces(std::int32_t* to, std::int64_t stride, const std::uint64_t* digits, std::int64_t plane, int limbs,
                     int cut, std::int64_t count);

/// to[e] = the residue of the number whose pieces are pieces[s * stride + e].
void to_residues(double* to, const std::int32_t* pieces, std::int64_t stride, const Modulus& modulus,
                 const ToResidue& way, std::int64_t count);

/// x[e] less m times the nearest whole number to x[e] / m, |x[e]| < 2^53: exact, in size below 0.500001 m.
void reduce(double* x, const Modulus& modulus, std::int64_t count);

/// V + 1/2 of each neighbour, V = sum of c_i M / m_i - k M in units of a result that has 52 bits below the point:
/// carried pieces to[s * most_at_once + e], s < the pieces of M, from the residues c[i * stride + e].
void put_together(std::int64_t* to, const double* c, std::int64_t stride, const Remainders& remainders,
                  std::int64_t count);

}  // namespace tally::oracle::fixed
