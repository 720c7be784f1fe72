#include "oracle/fixed/residue_loops.hpp"

#include <algorithm>

#include "oracle/fixed/format.hpp"
#include "oracle/real/wide_registers.hpp"

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
