#include "oracle/fixed/exact_sum.hpp"

#include <array>

namespace tally::oracle::fixed {
namespace {

using Wide = __int128;
/// Room for 104 L bits, the bits of the number of terms, and the shift past the end.
template <int L>
using Limbs = std::array<Wide, 2 * L + 2>;

/// The numbers of one row or column one after the other, [terms][L].
using Line = std::vector<std::uint64_t>;

template <int L>
Line line_of(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index stride, Eigen::Index terms) {
  Line result(static_cast<std::size_t>(terms * L));
  for (int l = 0; l < L; ++l) {
    const std::uint64_t* from = matrix.plane(l) + first;
    for (Eigen::Index k = 0; k < terms; ++k) result[static_cast<std::size_t>(k * L + l)] = from[k * stride];
  }
  return result;
}

/// Every limb but the highest into 0 .. 2^52 - 1, the value unchanged.
template <int L>
void carry(Limbs<L>& x) {
  for (std::size_t w = 0; w + 1 < x.size(); ++w) {
    x[w + 1] += x[w] >> limb_bits;
    x[w] &= Wide{limb_mask};
  }
}

/// Adds the sums of X Y over some terms, few enough that no limb overflows: 2^16 2^104 L < 2^127.
template <int L>
void add_limb_products(Limbs<L>& sum, const std::uint64_t* x, const std::uint64_t* y, Eigen::Index terms) {
  using Product = unsigned __int128;
  std::array<Product, 2 * L - 1> part{};
  for (Eigen::Index k = 0; k < terms; ++k, x += L, y += L)
#pragma GCC unroll 8
    for (int l = 0; l < L; ++l)
#pragma GCC unroll 8
      for (int m = 0; m < L; ++m)
        part[static_cast<std::size_t>(l) + static_cast<std::size_t>(m)] += static_cast<Product>(x[l]) * y[m];
  for (std::size_t w = 0; w < part.size(); ++w) {
    sum[w] += static_cast<Wide>(part[w] & limb_mask);
    sum[w + 1] += static_cast<Wide>(part[w] >> limb_bits);
  }
}

/// From sums of X Y to those of A B: A B = X Y - 2^h (X + Y) + 2^2h.
template <int L>
void take_halves_out(Limbs<L>& sum, const Line& x, const Line& y, Eigen::Index terms) {
  for (std::size_t at = 0; at < x.size(); ++at) sum[L - 1 + at % L] -= (Wide{x[at]} + Wide{y[at]}) * Wide{top_half};
  sum[2 * L - 2] += Wide{terms} * Wide{top_half} * Wide{top_half};
}

/// The limbs of floor((sum + 2^(d - 1)) / 2^d) + 2^h.
template <int L>
void write_nearest(Limbs<L> sum, int dropped, FixedMatrix& to, Eigen::Index at) {
  sum[static_cast<std::size_t>((dropped - 1) / limb_bits)] += Wide{1} << (dropped - 1) % limb_bits;
  carry<L>(sum);
  const int shift = dropped % limb_bits;
  for (int l = 0; l < L; ++l) {
    const auto from = static_cast<std::size_t>(dropped / limb_bits) + static_cast<std::size_t>(l);
    const Wide bits = (sum[from] >> shift) | (sum[from + 1] << (limb_bits - shift));
    to.plane(l)[at] = static_cast<std::uint64_t>(bits) & limb_mask;
  }
  to.plane(L - 1)[at] ^= top_half;
}

template <int L>
void write_element(const Operands& operands, const Line& x, const Line& y, Eigen::Index at) {
  constexpr Eigen::Index block = 1 << 16;
  Limbs<L> sum{};
  for (Eigen::Index k = 0; k < operands.terms(); k += block)
    add_limb_products<L>(sum, x.data() + k * L, y.data() + k * L, std::min(block, operands.terms() - k));
  take_halves_out<L>(sum, x, y, operands.terms());
  write_nearest<L>(sum, dropped_bits(L, operands.terms()), operands.result, at);
}

template <int L>
Line row_of(const Operands& operands, Eigen::Index i) {
  return line_of<L>(operands.left, i * operands.terms(), 1, operands.terms());
}

template <int L>
Line column_of(const Operands& operands, Eigen::Index j) {
  return line_of<L>(operands.right, j, operands.right.columns, operands.terms());
}

template <int L>
void write_exact_tile(const Operands& operands, const Tile& tile) {
  std::vector<Line> rows;
  for (Eigen::Index i = 0; i < tile.rows; ++i) rows.push_back(row_of<L>(operands, tile.first_row + i));
  for (Eigen::Index j = tile.first_column; j < tile.first_column + tile.columns; ++j) {
    const Line column = column_of<L>(operands, j);
    for (Eigen::Index i = 0; i < tile.rows; ++i)
      write_element<L>(operands, rows[static_cast<std::size_t>(i)], column,
                       (tile.first_row + i) * operands.result.columns + j);
  }
}

template <int L>
void write_one(const Operands& operands, Eigen::Index i, Eigen::Index j) {
  write_element<L>(operands, row_of<L>(operands, i), column_of<L>(operands, j), i * operands.result.columns + j);
}

}  // namespace

void exact_element(const Operands& operands, Eigen::Index i, Eigen::Index j) {
  if (operands.left.limbs == 3) return write_one<3>(operands, i, j);
  if (operands.left.limbs == 5) return write_one<5>(operands, i, j);
  write_one<7>(operands, i, j);
}

TileWork exact_route(const Operands& operands) {
  return [operands](const Tile& tile) {
    if (operands.left.limbs == 3) return write_exact_tile<3>(operands, tile);
    if (operands.left.limbs == 5) return write_exact_tile<5>(operands, tile);
    write_exact_tile<7>(operands, tile);
  };
}

}  // namespace tally::oracle::fixed
