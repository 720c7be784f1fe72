// Residues modulo many small numbers, there and back.
#include "oracle/fixed_point/residues.hpp"

#include <flint/fmpz.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "oracle/fixed_point/matrix.hpp"
#include "oracle/real/threads.hpp"

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

#define TALLY_INLINE inline __attribute__((always_inline))

namespace tally::oracle::fixed {
namespace {

/// Added and taken away it leaves the nearest whole number, of numbers below 2^51.
constexpr double to_whole = 0x1.8p52;

constexpr std::int64_t residue_lanes = 8;
using ResidueLanes __attribute__((vector_size(residue_lanes * sizeof(double)), aligned(sizeof(double)), may_alias)) =
    double;
using WholeLanes __attribute__((vector_size(residue_lanes * sizeof(double)), aligned(sizeof(double)), may_alias)) =
    long long;

TALLY_INLINE double reduced(double x, double m, double inverse) { return x - (x * inverse + to_whole - to_whole) * m; }

template <int P>
TALLY_INLINE void residues(double* __restrict to, const std::int32_t* __restrict pieces, std::int64_t stride,
                           const Modulus& modulus, const ToResidue& way, std::int64_t count) {
  const double inverse = modulus.inverse, m = modulus.m, constant = way.constant;
  double factors[P];
  std::copy_n(way.factors.data(), P, factors);
  for (std::int64_t e = 0; e < count; ++e) {
    double sum = constant;
#pragma GCC unroll 16
    for (int s = 0; s < P; ++s) sum += static_cast<double>(pieces[s * stride + e]) * factors[s];
    to[e] = reduced(sum, m, inverse);
  }
}

/// Pieces of V of eight neighbours, not carried.
template <int P>
TALLY_INLINE void add_shares(ResidueLanes (&sum)[P], const double* c, std::int64_t stride,
                             const Remainders& remainders) {
  ResidueLanes quotient{};
  for (const Modulus& modulus : remainders.moduli) {
    const ResidueLanes residue = *reinterpret_cast<const ResidueLanes*>(c);
    const double* share = modulus.share.data();
    quotient += residue * modulus.inverse;
#pragma GCC unroll 16
    for (int s = 0; s < P; ++s) sum[s] += residue * share[s];
    c += stride;
  }
  const ResidueLanes k = quotient + to_whole - to_whole;
#pragma GCC unroll 16
  for (int s = 0; s < P; ++s) sum[s] -= k * remainders.whole[static_cast<std::size_t>(s)];
}

template <int P>
TALLY_INLINE void carried(std::int64_t* to, const double* c, std::int64_t stride, const Remainders& remainders) {
  ResidueLanes sum[P] = {};
  add_shares<P>(sum, c, stride, remainders);
  WholeLanes up{};
#pragma GCC unroll 16
  for (int s = 0; s < P; ++s) {
    const WholeLanes half = WholeLanes{} + (s == 1 ? 1LL << (piece_bits - 1) : 0LL);
    const WholeLanes all = __builtin_convertvector(sum[s], WholeLanes) + half + up;
    *reinterpret_cast<WholeLanes*>(to + s * most_at_once) = all & static_cast<long long>(piece_mask);
    up = all >> piece_bits;
  }
}

/// The last neighbours, fewer than eight, go through copies of eight.
template <int P>
TALLY_INLINE void all_carried(std::int64_t* to, const double* c, std::int64_t stride, const Remainders& remainders,
                              std::int64_t count) {
  std::int64_t e = 0;
  for (; e + residue_lanes <= count; e += residue_lanes) carried<P>(to + e, c + e, stride, remainders);
  if (e == count) return;
  std::vector<double> last(remainders.moduli.size() * residue_lanes, 0);
  for (std::size_t i = 0; i < remainders.moduli.size(); ++i)
    std::copy_n(c + static_cast<std::int64_t>(i) * stride + e, count - e, last.data() + i * residue_lanes);
  carried<P>(to + e, last.data(), residue_lanes, remainders);
}

}  // namespace

TALLY_WIDE_REGISTERS void cut_into_pieces(std::int32_t* __restrict to, std::int64_t stride,
                                          const std::uint64_t* __restrict digits, std::int64_t plane, int limbs,
                                          int cut, std::int64_t count) {
  const int rest_bits = piece_bits - cut;  // of a limb's high piece that the limb holds itself
  std::uint64_t carry[most_at_once];
  for (std::int64_t e = 0; e < count; ++e) carry[e] = std::uint64_t{1} << (cut - 1);
  for (int l = 0; l < limbs; ++l, digits += plane) {
    std::int32_t *below = to + (2 * l - 1) * stride, *low = below + stride, *high = low + stride;
    for (std::int64_t e = 0; e < count; ++e) {
      const std::uint64_t all = digits[e] + carry[e], limb = all & limb_mask;
      carry[e] = all >> limb_bits;
      low[e] = static_cast<std::int32_t>((limb >> cut) & piece_mask);
      high[e] = static_cast<std::int32_t>(limb >> (cut + piece_bits));
      if (l > 0) below[e] |= static_cast<std::int32_t>((limb & ((1u << cut) - 1)) << rest_bits);
    }
  }
  std::int32_t* top = to + (2 * limbs - 1) * stride;
  for (std::int64_t e = 0; e < count; ++e) top[e] |= static_cast<std::int32_t>(carry[e] << rest_bits);
}

TALLY_WIDE_REGISTERS void to_residues(double* to, const std::int32_t* pieces, std::int64_t stride,
                                      const Modulus& modulus, const ToResidue& way, std::int64_t count) {
  if (way.factors.size() == 6) return residues<6>(to, pieces, stride, modulus, way, count);
  if (way.factors.size() == 10) return residues<10>(to, pieces, stride, modulus, way, count);
  residues<14>(to, pieces, stride, modulus, way, count);
}

TALLY_WIDE_REGISTERS void reduce(double* x, const Modulus& modulus, std::int64_t count) {
  const double inverse = modulus.inverse, m = modulus.m;
  for (std::int64_t e = 0; e < count; ++e) x[e] = reduced(x[e], m, inverse);
}

TALLY_WIDE_REGISTERS void put_together(std::int64_t* to, const double* c, std::int64_t stride,
                                       const Remainders& remainders, std::int64_t count) {
  if (remainders.whole.size() == 8) return all_carried<8>(to, c, stride, remainders, count);
  if (remainders.whole.size() == 12) return all_carried<12>(to, c, stride, remainders, count);
  all_carried<16>(to, c, stride, remainders, count);
}

}  // namespace tally::oracle::fixed
