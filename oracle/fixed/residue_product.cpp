// Operands are rounded to p = h - 14 bits, A = A' 2^14 + a with |a| <= 2^13 (a = 0 for short numbers), and the sum V of
// A' B' is found exactly modulo M. What is lost of an element is at most
//   2^13 (sum over k of |A_ik|, if a row has an a, + sum over k of |B_kj|, if a column has a b).
// V is put together in multiples of 2^-52 of the result's unit. Where all that is lost cannot change the nearest whole
// number, that is the result; elsewhere the exact sum is taken.
#include "oracle/fixed/residue_product.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "oracle/fixed/exact_sum.hpp"
#include "oracle/fixed/remainders.hpp"
#include "oracle/real/wide_registers.hpp"

namespace tally::oracle::fixed {
namespace {

constexpr int cut_bits = 14;

struct Plan {
  Operands operands;
  Eigen::Index inner;
  Remainders remainders;
  std::vector<double> left_lost, right_lost;  // per row and column: 2^13 if anything was cut, else 0
  std::vector<double> left_sum, right_sum;    // of magnitudes, upward, in units of 2^(52 (L - 1))
};

/// The pieces of round(X / 2^14), X = A + 2^h, of `count` neighbours.
TALLY_WIDE_REGISTERS void cut_into_pieces(double* __restrict pieces, const FixedMatrix& from, Eigen::Index first,
                                          Eigen::Index count) {
  std::uint64_t carry[most_at_once], rounded[most_at_once];
  constexpr std::uint64_t cut_mask = (std::uint64_t{1} << cut_bits) - 1;
  for (Eigen::Index e = 0; e < count; ++e) carry[e] = std::uint64_t{1} << (cut_bits - 1);
  for (int l = 0; l < from.limbs; ++l) {
    const std::uint64_t* digits = from.plane(l) + first;
    double *low = pieces + (2 * l) * most_at_once, *high = low + most_at_once, *below = low - most_at_once;
    for (Eigen::Index e = 0; e < count; ++e) {
      const std::uint64_t all = digits[e] + carry[e];
      carry[e] = all >> limb_bits;
      rounded[e] = all & limb_mask;
    }
    // The lowest bits of this limb end the piece below.
    if (l > 0)
      for (Eigen::Index e = 0; e < count; ++e)
        below[e] += static_cast<double>(
            static_cast<std::int64_t>((rounded[e] & cut_mask) << (2 * piece_bits - cut_bits - piece_bits)));
    for (Eigen::Index e = 0; e < count; ++e) {
      low[e] = static_cast<double>(static_cast<std::int64_t>((rounded[e] >> cut_bits) & piece_mask));
      high[e] = static_cast<double>(static_cast<std::int64_t>(rounded[e] >> (cut_bits + piece_bits)));
    }
  }
  double* top = pieces + (2 * from.limbs - 1) * most_at_once;
  for (Eigen::Index e = 0; e < count; ++e)
    top[e] += static_cast<double>(static_cast<std::int64_t>(carry[e] << (limb_bits - cut_bits - piece_bits)));
}

/// What is lost of each line, and the sum of its magnitudes.
void weigh(const FixedMatrix& matrix, bool by_rows, std::vector<double>& lost, std::vector<double>& sum) {
  constexpr std::uint64_t cut_mask = (std::uint64_t{1} << cut_bits) - 1;
  const auto lines = static_cast<std::size_t>(by_rows ? matrix.rows : matrix.columns);
  lost.assign(lines, 0);
  sum.assign(lines, 0);
  const std::uint64_t *low = matrix.plane(0), *high = matrix.plane(matrix.limbs - 1);
  for (Eigen::Index i = 0, at = 0; i < matrix.rows; ++i) {
    for (Eigen::Index j = 0; j < matrix.columns; ++j, ++at) {
      const auto line = static_cast<std::size_t>(by_rows ? i : j);
      if ((low[at] & cut_mask) != 0) lost[line] = 0x1p13;
      // 2 for the lower limbs and for the rounding; the factor covers the additions of at most 2^20 numbers.
      sum[line] += std::fabs(static_cast<double>(static_cast<std::int64_t>(high[at] - top_half))) + 2;
    }
  }
  for (double& s : sum) s *= 1 + 0x1p-32;
}

/// Residues of rows .. and columns .. of an operand for every modulus, [modulus][rows][columns].
void residues_of(std::vector<double>& to, const FixedMatrix& from, const Tile& part, const Plan& plan, bool left) {
  std::vector<double> pieces(static_cast<std::size_t>(2 * from.limbs * most_at_once));
  const Eigen::Index plane = part.rows * part.columns;
  for (Eigen::Index i = 0; i < part.rows; ++i) {
    for (Eigen::Index j = 0; j < part.columns; j += most_at_once) {
      const Eigen::Index count = std::min<Eigen::Index>(most_at_once, part.columns - j);
      cut_into_pieces(pieces.data(), from, (part.first_row + i) * from.columns + part.first_column + j, count);
      double* at = to.data() + i * part.columns + j;
      for (const Modulus& modulus : plan.remainders.moduli) {
        to_residues(at, pieces.data(), modulus, left ? modulus.left : modulus.right, count);
        at += plane;
      }
    }
  }
}

/// c[modulus] = c[modulus] + left residues times right residues, reduced.
void multiply(std::vector<double>& c, const std::vector<double>& left, const std::vector<double>& right,
              const Tile& tile, Eigen::Index terms, const Plan& plan) {
  const auto rows = static_cast<int>(tile.rows), columns = static_cast<int>(tile.columns), n = static_cast<int>(terms);
  for (std::size_t i = 0; i < plan.remainders.moduli.size(); ++i) {
    double* to = c.data() + static_cast<Eigen::Index>(i) * tile.rows * tile.columns;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, n, 1,
                left.data() + static_cast<Eigen::Index>(i) * tile.rows * terms, n,
                right.data() + static_cast<Eigen::Index>(i) * terms * tile.columns, columns, 1, to, columns);
    reduce(to, plan.remainders.moduli[i], tile.rows * tile.columns);
  }
}

/// Takes k M out of V, k the whole number nearest to the quotient.
TALLY_WIDE_REGISTERS void take_multiples_out(double* __restrict sums, const double* __restrict quotient,
                                             const std::vector<double>& whole, Eigen::Index count) {
  constexpr double to_whole = 0x1.8p52;
  for (std::size_t s = 0; s < whole.size(); ++s) {
    double* sum = sums + s * most_at_once;
    const double piece = whole[s];
    for (Eigen::Index e = 0; e < count; ++e) sum[e] -= (quotient[e] + to_whole - to_whole) * piece;
  }
}

/// Carried pieces of V + 1/2, V in units of the result, with 52 bits below the point.
TALLY_WIDE_REGISTERS void carry(std::int64_t* __restrict pieces, const double* __restrict sums, Eigen::Index used,
                                Eigen::Index count) {
  std::int64_t up[most_at_once];
  for (Eigen::Index e = 0; e < count; ++e) up[e] = 0;
  for (Eigen::Index s = 0; s < used; ++s) {
    const std::int64_t half = s == 1 ? std::int64_t{1} << (piece_bits - 1) : 0;
    const double* sum = sums + s * most_at_once;
    std::int64_t* piece = pieces + s * most_at_once;
    for (Eigen::Index e = 0; e < count; ++e) {
      const std::int64_t all = static_cast<std::int64_t>(sum[e]) + half + up[e];
      piece[e] = all & static_cast<std::int64_t>(piece_mask);
      up[e] = all >> piece_bits;
    }
  }
}

/// Room for the last step: everything about most_at_once elements.
struct Bench {
  explicit Bench(std::size_t pieces)
      : sums(pieces * most_at_once), quotient(most_at_once), carried(pieces * most_at_once) {}
  std::vector<double> sums, quotient;
  std::vector<std::int64_t> carried;
};

/// Writes row i, columns first .. of the result from carried pieces, or asks for exact sums.
void write_nearest(const Plan& plan, const Bench& bench, Eigen::Index i, Eigen::Index first, Eigen::Index count) {
  const int limbs = plan.operands.left.limbs, spare = guard_bits + bits_of_terms(plan.operands.terms());
  const auto row = static_cast<std::size_t>(i);
  const auto piece = [&](int s, Eigen::Index e) {
    return static_cast<std::uint64_t>(bench.carried[static_cast<std::size_t>(s * most_at_once + e)]);
  };
  FixedMatrix& result = plan.operands.result;
  for (int l = 0; l < limbs; ++l) {
    std::uint64_t* to = result.plane(l) + i * result.columns + first;
    const std::uint64_t sign = l == limbs - 1 ? top_half : 0;
    for (Eigen::Index e = 0; e < count; ++e) to[e] = (piece(2 + 2 * l, e) | piece(3 + 2 * l, e) << piece_bits) ^ sign;
  }
  // 2^(52 (L - 1)) over 2^(d - 52).
  const double unit = std::ldexp(1, 1 - spare);
  for (Eigen::Index e = 0; e < count; ++e) {
    const auto column = static_cast<std::size_t>(first + e);
    const double lost = plan.left_lost[row] * plan.right_sum[column] + plan.right_lost[column] * plan.left_sum[row];
    const auto error = static_cast<std::uint64_t>(lost * unit + plan.remainders.rounding) + 2;
    const std::uint64_t rest = piece(0, e) | piece(1, e) << piece_bits;
    if (rest < error || rest + error > limb_mask) exact_element(plan.operands, i, first + e);
  }
}

void put_together(const Plan& plan, const std::vector<double>& c, const Tile& tile) {
  const std::size_t pieces = plan.remainders.whole.size();
  Bench bench(pieces);
  for (Eigen::Index i = 0; i < tile.rows; ++i) {
    for (Eigen::Index j = 0; j < tile.columns; j += most_at_once) {
      const Eigen::Index count = std::min<Eigen::Index>(most_at_once, tile.columns - j);
      std::fill(bench.sums.begin(), bench.sums.end(), 0);
      std::fill(bench.quotient.begin(), bench.quotient.end(), 0);
      const double* from = c.data() + i * tile.columns + j;
      for (const Modulus& modulus : plan.remainders.moduli) {
        add_share(bench.sums.data(), bench.quotient.data(), from, modulus, count);
        from += tile.rows * tile.columns;
      }
      take_multiples_out(bench.sums.data(), bench.quotient.data(), plan.remainders.whole, count);
      carry(bench.carried.data(), bench.sums.data(), static_cast<Eigen::Index>(pieces), count);
      write_nearest(plan, bench, tile.first_row + i, tile.first_column + j, count);
    }
  }
}

void write_tile(const Plan& plan, const Tile& tile) {
  const std::size_t moduli = plan.remainders.moduli.size();
  const Eigen::Index terms = plan.operands.terms(), inner = std::min(plan.inner, terms);
  std::vector<double> c(moduli * static_cast<std::size_t>(tile.rows * tile.columns), 0);
  std::vector<double> left(moduli * static_cast<std::size_t>(tile.rows * inner)),
      right(moduli * static_cast<std::size_t>(inner * tile.columns));
  for (Eigen::Index k = 0; k < terms; k += inner) {
    const Eigen::Index now = std::min(inner, terms - k);
    residues_of(left, plan.operands.left, {tile.first_row, tile.rows, k, now}, plan, true);
    residues_of(right, plan.operands.right, {k, now, tile.first_column, tile.columns}, plan, false);
    multiply(c, left, right, tile, now, plan);
  }
  put_together(plan, c, tile);
}

}  // namespace

TileWork residue_route(const Operands& operands, Eigen::Index inner) {
  openblas_set_num_threads(1);  // the threads are those of the tiles
  const int limbs = operands.left.limbs;
  const Eigen::Index terms = operands.terms(), at_once = std::min(std::max<Eigen::Index>(inner, 1), terms);
  const int unit = dropped_bits(limbs, terms) - 2 * cut_bits - limb_bits;
  auto plan = std::make_shared<Plan>(
      Plan{operands,
           at_once,
           Remainders(magnitude_bits(limbs) - cut_bits, terms, at_once, 2 * limbs, unit, 2 * limbs + 2),
           {},
           {},
           {},
           {}});
  weigh(operands.left, true, plan->left_lost, plan->left_sum);
  weigh(operands.right, false, plan->right_lost, plan->right_sum);
  return [plan](const Tile& tile) { write_tile(*plan, tile); };
}

}  // namespace tally::oracle::fixed
