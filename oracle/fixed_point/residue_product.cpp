// The route of residues: products of whole doubles by OpenBLAS, or without it.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "oracle/fixed_point/residues.hpp"
#include "oracle/fixed_point/routes.hpp"

namespace tally::oracle::fixed {
namespace {

std::optional<Blas> loaded() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Blas found{};
  found.multiply = reinterpret_cast<decltype(found.multiply)>(dlsym(library, "cblas_dgemm"));
  found.set_threads = reinterpret_cast<decltype(found.set_threads)>(dlsym(library, "openblas_set_num_threads"));
  if (found.multiply == nullptr || found.set_threads == nullptr) return std::nullopt;
  return found;
}

}  // namespace

const Blas* blas() {
  static const std::optional<Blas> found = loaded();
  return found ? &*found : nullptr;
}

}  // namespace tally::oracle::fixed

// Compiled for several processors, and the program picks at start. A fused operation has nothing to round here.
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TALLY_FUSED \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("fp-contract=fast")))
#else
#define TALLY_FUSED
#endif

namespace tally::oracle::fixed {
namespace {

constexpr Eigen::Index block_lanes = 4, vectors = 3;
constexpr Eigen::Index width = block_lanes * vectors, height = 4;  // a block's sums fill twelve registers of sixteen
using BlockLanes __attribute__((vector_size(block_lanes * sizeof(double)), aligned(sizeof(double)), may_alias)) =
    double;

struct WholeBlock {
  double of[height][width];
};

/// a [terms][height] by b [terms][width].
TALLY_FUSED void multiply_block(const double* a, const double* b, Eigen::Index terms, WholeBlock& out) {
  BlockLanes sum[height][vectors] = {};
  for (Eigen::Index k = 0; k < terms; ++k, a += height, b += width)
    for (Eigen::Index i = 0; i < height; ++i)
      for (Eigen::Index v = 0; v < vectors; ++v)
        sum[i][v] += a[i] * *reinterpret_cast<const BlockLanes*>(b + v * block_lanes);
  for (Eigen::Index i = 0; i < height; ++i)
    for (Eigen::Index v = 0; v < vectors; ++v) *reinterpret_cast<BlockLanes*>(&out.of[i][v * block_lanes]) = sum[i][v];
}

/// Rows first .. of a as [terms][height], zeros behind the last.
void pack_rows(double* to, const double* a, const ProductSizes& sizes, Eigen::Index first) {
  const Eigen::Index count = std::min(height, sizes.rows - first);
  if (count < height) std::fill_n(to, sizes.terms * height, 0.0);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index k = 0; k < sizes.terms; ++k) to[k * height + i] = a[(first + i) * sizes.terms + k];
}

/// Columns first .. of b as [terms][width], zeros behind the last.
void pack_columns(double* to, const double* b, const ProductSizes& sizes, Eigen::Index first) {
  const Eigen::Index count = std::min(width, sizes.columns - first);
  if (count < width) std::fill_n(to, sizes.terms * width, 0.0);
  for (Eigen::Index k = 0; k < sizes.terms; ++k) std::copy_n(b + k * sizes.columns + first, count, to + k * width);
}

void write_block(double* c, const WholeBlock& block, const ProductSizes& sizes, Eigen::Index row, Eigen::Index column,
                 bool more) {
  for (Eigen::Index i = 0; i < std::min(height, sizes.rows - row); ++i) {
    double* to = c + (row + i) * sizes.columns + column;
    for (Eigen::Index j = 0; j < std::min(width, sizes.columns - column); ++j)
      to[j] = more ? to[j] + block.of[i][j] : block.of[i][j];
  }
}

}  // namespace

void multiply_wholes(double* c, const double* a, const double* b, const ProductSizes& sizes, bool more) {
  thread_local Room<double> room_of_rows, room_of_columns;
  double* rows = room_of_rows.of((sizes.rows + height - 1) / height * height * sizes.terms);
  double* columns = room_of_columns.of(width * sizes.terms);
  for (Eigen::Index i = 0; i < sizes.rows; i += height) pack_rows(rows + i * sizes.terms, a, sizes, i);
  WholeBlock block;
  for (Eigen::Index j = 0; j < sizes.columns; j += width) {
    pack_columns(columns, b, sizes, j);
    for (Eigen::Index i = 0; i < sizes.rows; i += height) {
      multiply_block(rows + i * sizes.terms, columns, sizes.terms, block);
      write_block(c, block, sizes, i, j, more);
    }
  }
}

// Operands are rounded to h - c bits, A = A' 2^c + a with |a| <= 2^(c - 1) (a = 0 for short numbers), and the sum V of
// A' B' is found exactly modulo M. What is lost of an element is at most
//   2^(c - 1) (sum over k of |A_ik|, if a row has an a, + sum over k of |B_kj|, if a column has a b).
// V is put together in multiples of 2^-52 of the result's unit. Where all that is lost cannot change the nearest whole
// number, that is the result; elsewhere the exact sum is taken.
namespace {

/// c: operands are rounded to multiples of 2^c, so that what is lost changes few results.
constexpr int cut_bits = guard_bits - 10;

struct ResiduePlan {
  Operands operands;
  Eigen::Index inner;
  Remainders remainders;
  std::vector<double> left_lost, right_lost;  // per row and column: 2^(c - 1) if anything was cut, else 0
  std::vector<double> left_sum, right_sum;    // of magnitudes, upward, in units of 2^(52 (L - 1))
  double unit;                                // 2^(52 (L - 1)) in units of 2^-52 of the result's

  /// What V may be off at an element, in units of 2^-52 of the result's, rounded upward.
  std::uint64_t error(Eigen::Index i, Eigen::Index j) const {
    const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
    const double lost = left_lost[r] * right_sum[c] + right_lost[c] * left_sum[r];
    return static_cast<std::uint64_t>(lost * unit + remainders.rounding) + 2;
  }
};

/// What is lost of each line, and the sum of its magnitudes.
void weigh(const FixedMatrix& matrix, bool by_rows, std::vector<double>& lost, std::vector<double>& sum) {
  const int cut = cut_bits;
  const std::uint64_t cut_mask = (std::uint64_t{1} << cut) - 1;
  const auto lines = static_cast<std::size_t>(by_rows ? matrix.rows : matrix.columns);
  lost.assign(lines, 0);
  sum.assign(lines, 0);
  const std::uint64_t *low = matrix.plane(0), *high = matrix.plane(matrix.limbs - 1);
  for (Eigen::Index i = 0, at = 0; i < matrix.rows; ++i) {
    for (Eigen::Index j = 0; j < matrix.columns; ++j, ++at) {
      const auto line = static_cast<std::size_t>(by_rows ? i : j);
      if ((low[at] & cut_mask) != 0) lost[line] = std::ldexp(1, cut - 1);
      // 2 for the lower limbs and for the rounding; the factor covers the additions of at most 2^20 numbers.
      sum[line] += std::fabs(static_cast<double>(static_cast<std::int64_t>(high[at] - top_half))) + 2;
    }
  }
  for (double& s : sum) s *= 1 + 0x1p-32;
}

/// A part of an operand, cut into pieces.
struct Factor {
  const std::int32_t* pieces;
  Eigen::Index rows, columns;
  void residues(double* to, const Modulus& modulus, const ToResidue& way) const {
    const Eigen::Index size = rows * columns;
    for (Eigen::Index e = 0; e < size; e += most_at_once)
      to_residues(to + e, pieces + e, size, modulus, way, std::min(most_at_once, size - e));
  }
};

/// Pieces of rows .. and columns .. of an operand, [piece][rows][columns].
void pieces_of(std::int32_t* to, const FixedMatrix& from, const Tile& part) {
  const Eigen::Index plane = part.rows * part.columns;
  for (Eigen::Index i = 0; i < part.rows; ++i) {
    for (Eigen::Index j = 0; j < part.columns; j += most_at_once) {
      const std::uint64_t* digits = from.plane(0) + (part.first_row + i) * from.columns + part.first_column + j;
      cut_into_pieces(to + i * part.columns + j, plane, digits, from.size(), from.limbs, cut_bits,
                      std::min(most_at_once, part.columns - j));
    }
  }
}

/// c = x y, or c + x y if `more`: by OpenBLAS where there is one, with the same bits without.
void multiply_residues(double* c, const double* x, const double* y, const ProductSizes& sizes, bool more) {
  const Blas* const library = blas();
  if (library == nullptr) return multiply_wholes(c, x, y, sizes, more);
  const auto rows = static_cast<int>(sizes.rows), terms = static_cast<int>(sizes.terms);
  const auto columns = static_cast<int>(sizes.columns);
  library->multiply(Blas::row_major, Blas::as_it_is, Blas::as_it_is, rows, columns, terms, 1, x, terms, y, columns,
                    more ? 1 : 0, c, columns);
}

/// c[modulus] = left right modulo each modulus, added to what is there if `more`.
void multiply(double* c, const Factor& left, const Factor& right, bool more, const ResiduePlan& plan) {
  thread_local Room<double> room_of_left, room_of_right;
  double *x = room_of_left.of(left.rows * left.columns), *y = room_of_right.of(right.rows * right.columns);
  for (const Modulus& modulus : plan.remainders.moduli) {
    left.residues(x, modulus, modulus.left);
    right.residues(y, modulus, modulus.right);
    multiply_residues(c, x, y, {left.rows, left.columns, right.columns}, more);
    reduce(c, modulus, left.rows * right.columns);
    c += left.rows * right.columns;
  }
}

/// Elements (i, first) .. of the result from carried pieces of V + 1/2, or from their exact sums.
void write_nearest_residues(const ResiduePlan& plan, const std::int64_t* carried, Eigen::Index i, Eigen::Index first,
                            Eigen::Index count) {
  const int limbs = plan.operands.left.limbs;
  const auto limb = [&](int l, Eigen::Index e) {  // limb -1 holds what is below the point
    const std::int64_t* low = carried + 2 * (l + 1) * most_at_once + e;
    return static_cast<std::uint64_t>(low[0] | low[most_at_once] << piece_bits);
  };
  FixedMatrix& result = plan.operands.result;
  for (int l = 0; l < limbs; ++l) {
    std::uint64_t* to = result.plane(l) + i * result.columns + first;
    const std::uint64_t sign = l == limbs - 1 ? top_half : 0;
    for (Eigen::Index e = 0; e < count; ++e) to[e] = limb(l, e) ^ sign;
  }
  for (Eigen::Index e = 0; e < count; ++e) {
    const std::uint64_t error = plan.error(i, first + e), rest = limb(-1, e);
    if (rest < error || rest + error > limb_mask) exact_element(plan.operands, i, first + e);
  }
}

void write_residue_tile(const ResiduePlan& plan, const Tile& tile) {
  thread_local Room<double> room_of_c;
  thread_local Room<std::int32_t> room_of_left, room_of_right;
  const Eigen::Index terms = plan.operands.terms(), pieces = 2 * plan.operands.left.limbs;
  const Eigen::Index plane = tile.rows * tile.columns;
  double* c = room_of_c.of(static_cast<Eigen::Index>(plan.remainders.moduli.size()) * plane);
  std::int32_t* left = room_of_left.of(pieces * tile.rows * plan.inner);
  std::int32_t* right = room_of_right.of(pieces * plan.inner * tile.columns);
  for (Eigen::Index k = 0; k < terms; k += plan.inner) {
    const Eigen::Index now = std::min(plan.inner, terms - k);
    pieces_of(left, plan.operands.left, {tile.first_row, tile.rows, k, now});
    pieces_of(right, plan.operands.right, {k, now, tile.first_column, tile.columns});
    multiply(c, {left, tile.rows, now}, {right, now, tile.columns}, k > 0, plan);
  }
  std::vector<std::int64_t> carried(plan.remainders.whole.size() * most_at_once);
  for (Eigen::Index i = 0; i < tile.rows; ++i) {
    for (Eigen::Index j = 0; j < tile.columns; j += most_at_once) {
      const Eigen::Index count = std::min(most_at_once, tile.columns - j);
      put_together(carried.data(), c + i * tile.columns + j, plane, plan.remainders, count);
      write_nearest_residues(plan, carried.data(), tile.first_row + i, tile.first_column + j, count);
    }
  }
}

}  // namespace

TileWork residue_route(const Operands& operands, Eigen::Index inner) {
  if (const Blas* library = blas()) library->set_threads(1);  // the threads are those of the tiles
  const int limbs = operands.left.limbs, cut = cut_bits;
  const Eigen::Index terms = operands.terms(), at_once = std::clamp<Eigen::Index>(inner, 1, terms);
  const int dropped = dropped_bits(limbs, terms), unit = dropped - 2 * cut - limb_bits;
  auto plan = std::make_shared<ResiduePlan>(
      ResiduePlan{operands,
                  at_once,
                  Remainders(magnitude_bits(limbs) - cut, terms, at_once, 2 * limbs, unit, 2 * limbs + 2),
                  {},
                  {},
                  {},
                  {},
                  std::ldexp(1, limb_bits * limbs - dropped)});
  weigh(operands.left, true, plan->left_lost, plan->left_sum);
  weigh(operands.right, false, plan->right_lost, plan->right_sum);
  return [plan](const Tile& tile) { write_residue_tile(*plan, tile); };
}

}  // namespace tally::oracle::fixed
