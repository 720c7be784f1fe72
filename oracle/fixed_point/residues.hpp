// Residues modulo many small numbers: the moduli, the constants that lead there and back, and the loops over them.
#pragma once

#include <cstdint>
#include <vector>

namespace tally::oracle::fixed {

// Moduli for products of whole numbers by Chinese remainders, and the constants that lead there and back.
//
// Numbers of `width` bits and a sign, cut into pieces of 26 bits, become residues r with |r| < 0.500001 m. A dot product
// of `inner` of them, and one residue more, stays below 2^53: every number on the way is a whole double. A residue c_i
// of a product V |V| <= n 2^(2 width), made with a left residue that was multiplied by (M / m_i)^-1, gives
//   V = sum of c_i M / m_i - k M,   k = the whole number nearest to sum of c_i / m_i,
// M the product of the moduli, at least 4 n 2^(2 width).

constexpr int piece_bits = 26;
constexpr std::uint64_t piece_mask = (std::uint64_t{1} << piece_bits) - 1;

/// What turns pieces into residues of one modulus: residue = sum of piece_s factor_s + constant.
struct ToResidue {
  std::vector<double> factors;  // in size at most m / 2
  double constant = 0;          // takes 2^width out, so that pieces need no sign
};

struct Modulus {
  double m = 0, inverse = 0;
  ToResidue left, right;      // left: times (M / m)^-1
  std::vector<double> share;  // pieces of M / m, see Remainders
};

/// `pieces` balanced pieces of each M / m and of M, rounded to a multiple of 2^unit and taken modulo 2^(unit + 26 pieces).
struct Remainders {
  Remainders(int width, std::int64_t terms, std::int64_t inner, int operand_pieces, int unit, int pieces);

  std::vector<Modulus> moduli;
  std::vector<double> whole;  // pieces of M
  double rounding = 0;        // most that V is off through rounding to multiples of 2^unit, in those
};

// The loops of the BLAS route, over neighbours of a matrix at once. Every number in them is whole and below 2^53, so
// that no operation rounds and no order of them matters; only the quotient is rounded.

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
