// The part of X Y above 2^52L alone is summed, in units of 2^52L:
//   all of x_l y_m with l + m >= L, the high half where l + m = L - 1: L^2 multiply-adds a term, fewer where all
//   numbers of an operand are so short that their lower limbs are 0.
// What is left out of a term is not negative, and in those units less than
//   L (low halves of l + m = L - 1)  +  L - 1 (products of l + m = L - 2)  +  2^-52 L (the rest),  in all less than 2 L - 1,
// as each of the first two kinds is short of a unit by 2^-52 at least. So the exact sum T of A B, in units of 2^h, is
//   T' <= T < T' + 2 n (2 L - 1),   T' = 2 (sum of the parts) - sum of X - sum of Y + n 2^h.
// Where both ends round to the same multiple of 2^(d - h), that is the result; elsewhere the exact sum is taken.
#include <algorithm>
#include <atomic>
#include <memory>

#include "oracle/fixed_point/matrix.hpp"
#include "oracle/fixed_point/routes.hpp"
#include "oracle/real/threads.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define TALLY_IFMA __attribute__((target("avx512f,avx512ifma")))
#endif

namespace tally::oracle::fixed {

#if defined(__x86_64__)

bool has_ifma() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma"); }

namespace {

constexpr Eigen::Index lanes = 8;
/// A limb takes 2 L - 1 addends below 2^52 a term: 256 of them stay below 2^64.
constexpr Eigen::Index most_inner = 256;
static_assert((2 * 7 - 1) * most_inner < 1 << (64 - limb_bits));

/// As many rows at once as leave registers for L limbs of the right operand and some of the left.
template <int L>
constexpr int rows_at_once = L == 3   ? 8
                             : L == 5 ? 4
                                      : 3;

/// Eight signed numbers; unsigned ones where a shift must bring zeros.
using Lanes = __m512i;
using UnsignedLanes __attribute__((vector_size(64))) = unsigned long long;
template <int L>
using Sums = Lanes[rows_at_once<L>][L];
/// Sums after carrying, lowest limb first.
template <int L>
struct Carried {
  Lanes of[rows_at_once<L>][L + 1];
};
constexpr auto mask = static_cast<long long>(limb_mask);

/// Adds what is kept of x y of one element, x the same in all lanes; limbs below the highest X of x and Y of y are 0.
template <int L, int X, int Y>
TALLY_IFMA inline __attribute__((always_inline)) void add_product(Lanes (&sum)[L], const std::uint64_t* x,
                                                                  const Lanes (&y)[L]) {
#pragma GCC unroll 8
  for (int l = L - X; l < L; ++l) {
    const Lanes digit = _mm512_set1_epi64(static_cast<long long>(x[l]));
#pragma GCC unroll 8
    for (int m = std::max(L - 1 - l, L - Y); m < L; ++m)
      sum[l + m + 1 - L] = _mm512_madd52hi_epu64(sum[l + m + 1 - L], digit, y[m]);
#pragma GCC unroll 8
    for (int m = std::max(L - l, L - Y); m < L; ++m)
      sum[l + m - L] = _mm512_madd52lo_epu64(sum[l + m - L], digit, y[m]);
  }
}

/// `terms` terms of some rows times eight columns: x [terms][rows][L], y [terms][L][8].
template <int L, int X, int Y>
TALLY_IFMA void add_products(Sums<L>& out, const std::uint64_t* x, const std::uint64_t* y, Eigen::Index terms) {
  constexpr int rows = rows_at_once<L>;
  Lanes sum[rows][L];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l) sum[r][l] = Lanes{};
  for (Eigen::Index k = 0; k < terms; ++k, x += rows * L, y += L * lanes) {
    Lanes digits[L];
#pragma GCC unroll 8
    for (int l = L - Y; l < L; ++l) digits[l] = _mm512_loadu_si512(y + l * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) add_product<L, X, Y>(sum[r], x + r * L, digits);
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l) out[r][l] = sum[r][l];
}

template <int L>
TALLY_IFMA void carry_into(Carried<L>& total, const Sums<L>& sum) {
  for (int r = 0; r < rows_at_once<L>; ++r) {
    Lanes up = {};
    for (int l = 0; l < L; ++l) {
      const Lanes all = total.of[r][l] + sum[r][l] + up;
      total.of[r][l] = all & mask;
      up = (Lanes)((UnsignedLanes)all >> limb_bits);
    }
    total.of[r][L] += up;
  }
}

/// A strip of rows of the left operand, [terms][rows][L], missing rows zero.
template <int L>
void pack_strip(std::uint64_t* to, const FixedMatrix& left, const Tile& part) {
  constexpr Eigen::Index rows = rows_at_once<L>;
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (int l = 0; l < L; ++l) {
      const std::uint64_t* from = left.plane(l) + (part.first_row + r) * left.columns + part.first_column;
      for (Eigen::Index k = 0; k < part.columns; ++k) to[(k * rows + r) * L + l] = r < part.rows ? from[k] : 0;
    }
  }
}

/// At most eight columns of the right operand, [terms][L][8], missing columns zero.
template <int L>
TALLY_IFMA void pack_panel(std::uint64_t* to, const FixedMatrix& right, const Tile& part) {
  const auto wanted = static_cast<__mmask8>((1u << part.columns) - 1);
  for (Eigen::Index k = part.first_row; k < part.first_row + part.rows; ++k)
    for (int l = 0; l < L; ++l, to += lanes)
      _mm512_storeu_si512(to, _mm512_maskz_loadu_epi64(wanted, right.plane(l) + k * right.columns + part.first_column));
}

/// One strip against one panel: its place in the result.
struct Patch {
  Eigen::Index row, rows, column, columns;
};

/// No number has bits below its highest limb: floats of one size, as a case's own tensors mostly are.
bool in_highest_limb(const FixedMatrix& matrix, int threads) {
  std::atomic<bool> found = true;
  in_parts(matrix.size() * (matrix.limbs - 1), threads, [&](Eigen::Index first, Eigen::Index end) {
    const std::uint64_t* digits = matrix.plane(0);
    if (!std::all_of(digits + first, digits + end, [](std::uint64_t digit) { return digit == 0; })) found = false;
  });
  return found;
}

struct Plan {
  Operands operands;
  Eigen::Index inner;
  LineSums rows, columns;
  bool short_left, short_right;
};

/// T' + 2^(d - h - 1) of eight elements of a row, carried, the highest limb signed.
template <int L>
TALLY_IFMA void finish_sums(Lanes (&sum)[L + 1], const Plan& plan, Eigen::Index row, Eigen::Index column, int dropped) {
  Lanes up = {};
  for (int l = 0; l <= L; ++l) {
    long long known = -static_cast<long long>(plan.rows.limb(l)[row]);
    if (l == 0) known += 1LL << (dropped - 1);
    if (l == L - 1) known += plan.operands.terms() % 2 == 0 ? 0 : static_cast<long long>(top_half);
    if (l == L) known += plan.operands.terms() / 2;
    const Lanes all = sum[l] + sum[l] - _mm512_loadu_si512(plan.columns.limb(l) + column) + known + up;
    up = all >> limb_bits;
    sum[l] = l == L ? all : all & mask;
  }
}

/// Writes eight elements; the lanes whose sums leave the last bit open are told by the bits of the answer.
template <int L>
TALLY_IFMA unsigned write_row(const Operands& operands, const Lanes (&sum)[L + 1], const Patch& patch, Eigen::Index row,
                              int dropped) {
  const auto wanted = static_cast<__mmask8>((1u << patch.columns) - 1);
  for (int l = 0; l < L; ++l) {
    Lanes digit = (sum[l] >> dropped | sum[l + 1] << (limb_bits - dropped)) & mask;
    if (l == L - 1) digit ^= static_cast<long long>(top_half);
    _mm512_mask_storeu_epi64(operands.result.plane(l) + row * operands.result.columns + patch.column, wanted, digit);
  }
  const long long unit = 1LL << dropped, error = 2 * operands.terms() * (2 * L - 1);
  const Lanes rest = sum[0] & (unit - 1);
  return _mm512_mask_cmpgt_epi64_mask(wanted, rest, _mm512_set1_epi64(unit - error));
}

template <int L>
TALLY_IFMA void add_patch(Carried<L>& total, const std::uint64_t* strip, const std::uint64_t* panel, Eigen::Index terms,
                          const Plan& plan) {
  Sums<L> sum;
  if (plan.short_left && plan.short_right)
    add_products<L, 1, 1>(sum, strip, panel, terms);
  else if (plan.short_left)
    add_products<L, 1, L>(sum, strip, panel, terms);
  else if (plan.short_right)
    add_products<L, L, 1>(sum, strip, panel, terms);
  else
    add_products<L, L, L>(sum, strip, panel, terms);
  carry_into<L>(total, sum);
}

template <int L>
TALLY_IFMA void write_patch(const Plan& plan, const Patch& patch, Carried<L>& total) {
  const int dropped = dropped_bits(L, plan.operands.terms()) - magnitude_bits(L);
  for (Eigen::Index r = 0; r < patch.rows; ++r) {
    finish_sums<L>(total.of[r], plan, patch.row + r, patch.column, dropped);
    unsigned open = write_row<L>(plan.operands, total.of[r], patch, patch.row + r, dropped);
    for (Eigen::Index j = patch.column; open != 0; open >>= 1, ++j)
      if ((open & 1) != 0) exact_element(plan.operands, patch.row + r, j);
  }
}

/// The sums of a tile, [panel][strip], over terms that are packed once: strips stay in the second cache.
template <int L>
void add_terms(Carried<L>* totals, const Plan& plan, const Tile& tile, Eigen::Index first, Eigen::Index terms) {
  thread_local Room<std::uint64_t> room_of_strips, room_of_panel;
  constexpr Eigen::Index rows = rows_at_once<L>;
  const Eigen::Index size = terms * rows * L;
  std::uint64_t* strips = room_of_strips.of((tile.rows + rows - 1) / rows * size);
  std::uint64_t* panel = room_of_panel.of(terms * L * lanes);
  for (Eigen::Index i = 0; i < tile.rows; i += rows)
    pack_strip<L>(strips + i / rows * size, plan.operands.left,
                  {tile.first_row + i, std::min(rows, tile.rows - i), first, terms});
  for (Eigen::Index j = 0; j < tile.columns; j += lanes) {
    pack_panel<L>(panel, plan.operands.right, {first, terms, tile.first_column + j, std::min(lanes, tile.columns - j)});
    for (Eigen::Index i = 0; i < tile.rows; i += rows)
      add_patch<L>(*totals++, strips + i / rows * size, panel, terms, plan);
  }
}

template <int L>
void write_tile(const Plan& plan, const Tile& tile) {
  thread_local Room<Carried<L>> room_of_totals;
  constexpr Eigen::Index rows = rows_at_once<L>;
  const Eigen::Index terms = plan.operands.terms(),
                     patches = (tile.rows + rows - 1) / rows * ((tile.columns + lanes - 1) / lanes);
  Carried<L>* total = room_of_totals.of(patches);
  std::fill_n(total, patches, Carried<L>{});
  for (Eigen::Index k = 0; k < terms; k += plan.inner)
    add_terms<L>(total, plan, tile, k, std::min(plan.inner, terms - k));
  for (Eigen::Index j = 0; j < tile.columns; j += lanes)
    for (Eigen::Index i = 0; i < tile.rows; i += rows)
      write_patch<L>(
          plan,
          {tile.first_row + i, std::min(rows, tile.rows - i), tile.first_column + j, std::min(lanes, tile.columns - j)},
          *total++);
}

}  // namespace

TileWork ifma_route(const Operands& operands, Eigen::Index inner, int threads) {
  auto plan = std::make_shared<const Plan>(
      Plan{operands, std::clamp<Eigen::Index>(inner, 1, most_inner), LineSums(operands.left, true, threads),
           LineSums(operands.right, false, threads), in_highest_limb(operands.left, threads),
           in_highest_limb(operands.right, threads)});
  return [plan](const Tile& tile) {
    if (plan->operands.left.limbs == 3) return write_tile<3>(*plan, tile);
    if (plan->operands.left.limbs == 5) return write_tile<5>(*plan, tile);
    write_tile<7>(*plan, tile);
  };
}

#else

bool has_ifma() { return false; }
TileWork ifma_route(const Operands& operands, Eigen::Index, int) { return exact_route(operands); }

#endif

}  // namespace tally::oracle::fixed
