#include "oracle/fixed/remainders.hpp"

#include <flint/fmpz.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace tally::oracle::fixed {
namespace {

class Whole {
 public:
  Whole() { fmpz_init(x_); }
  ~Whole() { fmpz_clear(x_); }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  operator fmpz*() { return x_; }

 private:
  fmpz_t x_;
};

/// The largest m with inner (0.500001 m)^2 + m < 2^53, at most 2^24.
std::int64_t largest_modulus(std::int64_t inner) {
  const double room = (0x1p53 - 0x1p25) / static_cast<double>(std::max<std::int64_t>(inner, 1));
  return static_cast<std::int64_t>(std::min(0x1p24, std::floor(std::sqrt(room) / 0.500001)));
}

/// Pairwise without common factors, from `largest` down, until their product is at least 2^bits.
std::vector<std::int64_t> coprime_moduli(std::int64_t largest, int bits, fmpz* product) {
  std::vector<std::int64_t> result;
  fmpz_one(product);
  for (std::int64_t m = largest; fmpz_bits(product) <= static_cast<unsigned>(bits); --m) {
    const bool coprime = std::all_of(result.begin(), result.end(), [&](auto old) { return std::gcd(old, m) == 1; });
    if (!coprime) continue;
    result.push_back(m);
    fmpz_mul_ui(product, product, static_cast<ulong>(m));
  }
  return result;
}

/// x modulo m, in size at most m / 2.
double balanced(const fmpz* x, std::int64_t m) {
  const auto r = static_cast<std::int64_t>(fmpz_fdiv_ui(x, static_cast<ulong>(m)));
  return static_cast<double>(2 * r > m ? r - m : r);
}

std::vector<double> balanced_pieces(const fmpz* x, int unit, int count) {
  Whole rest, half;
  fmpz_one(half);
  fmpz_mul_2exp(half, half, static_cast<ulong>(unit - 1));
  fmpz_add(rest, x, half);
  fmpz_fdiv_q_2exp(rest, rest, static_cast<ulong>(unit));
  std::vector<double> result;
  for (int s = 0; s < count; ++s) {
    auto piece = static_cast<std::int64_t>(fmpz_fdiv_ui(rest, ulong{1} << piece_bits));
    fmpz_fdiv_q_2exp(rest, rest, piece_bits);
    if (piece >= std::int64_t{1} << (piece_bits - 1)) {
      piece -= std::int64_t{1} << piece_bits;
      fmpz_add_ui(rest, rest, 1);
    }
    result.push_back(static_cast<double>(piece));
  }
  return result;
}

ToResidue way_to_residue(fmpz* times, std::int64_t m, int width, int pieces) {
  ToResidue result;
  Whole power;
  for (int s = 0; s < pieces; ++s) {
    fmpz_mul_2exp(power, times, static_cast<ulong>(s) * static_cast<ulong>(piece_bits));
    result.factors.push_back(balanced(power, m));
  }
  fmpz_mul_2exp(power, times, static_cast<ulong>(width));
  result.constant = -balanced(power, m);
  return result;
}

Modulus modulus_of(std::int64_t m, fmpz* product, int width, int operand_pieces, int unit, int pieces) {
  Whole share, modulus, times, one;
  fmpz_set_si(modulus, m);
  fmpz_one(one);
  fmpz_divexact(share, product, modulus);
  fmpz_invmod(times, share, modulus);
  return {static_cast<double>(m), 1 / static_cast<double>(m), way_to_residue(times, m, width, operand_pieces),
          way_to_residue(one, m, width, operand_pieces), balanced_pieces(share, unit, pieces)};
}

}  // namespace

Remainders::Remainders(int width, std::int64_t terms, std::int64_t inner, int operand_pieces, int unit, int pieces) {
  Whole product;
  const int bits = 2 * width + 2 + static_cast<int>(std::ceil(std::log2(static_cast<double>(terms))));
  const std::vector<std::int64_t> found = coprime_moduli(largest_modulus(inner), bits, product);
  for (const std::int64_t m : found) moduli.push_back(modulus_of(m, product, width, operand_pieces, unit, pieces));
  whole = balanced_pieces(product, unit, pieces);
  double residues = 0;  // the most that the c_i come to
  for (const Modulus& modulus : moduli) residues += 0.500001 * modulus.m;
  const double quotient = static_cast<double>(moduli.size());
  rounding = (residues + quotient) / 2;
  if ((residues + quotient) * 0x1p25 >= 0x1p53) throw std::logic_error("remainders: more than a double holds");
}

}  // namespace tally::oracle::fixed
