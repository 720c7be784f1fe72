// Moduli for products of whole numbers by Chinese remainders, and the constants that lead there and back.
//
// Numbers of `width` bits and a sign, cut into pieces of 26 bits, become residues r with |r| < 0.500001 m. A dot product
// of `inner` of them, and one residue more, stays below 2^53: every number on the way is a whole double. A residue c_i
// of a product V |V| <= n 2^(2 width), made with a left residue that was multiplied by (M / m_i)^-1, gives
//   V = sum of c_i M / m_i - k M,   k = the whole number nearest to sum of c_i / m_i,
// M the product of the moduli, at least 4 n 2^(2 width).
#pragma once

#include <cstdint>
#include <vector>

namespace tally::oracle::fixed {

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

}  // namespace tally::oracle::fixed
