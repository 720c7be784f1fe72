// Which route a product takes, and the portable one.
#include "oracle/fixed_point/product.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "oracle/fixed_point/routes.hpp"

namespace tally::oracle::fixed {
namespace {

bool all_zero(const auto& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](auto x) { return x == 0; });
}

void require(bool held, const std::string& problem) {
  if (!held) throw std::logic_error("product in fixed point: " + problem);
}

void require_operands(const FixedMatrix& left, const FixedMatrix& right) {
  require(left.columns == right.rows,
          "inner sizes " + std::to_string(left.columns) + " and " + std::to_string(right.rows) + " differ");
  require(left.limbs == right.limbs,
          std::to_string(left.limbs) + " and " + std::to_string(right.limbs) + " limbs; expected as many");
  require(all_zero(left.column_exponent) && all_zero(left.column_radius), "the left operand is not scaled by rows");
  require(all_zero(right.row_exponent) && all_zero(right.row_radius), "the right operand is not scaled by columns");
  if (left.columns > most_terms)
    throw std::length_error("product in fixed point: " + std::to_string(left.columns) + " terms; at most 2^20");
}

/// Above the exact value of a few operations on doubles that are not negative.
double upward(double x) { return x + x * 0x1p-50; }

/// The radii of the result from those of the operands.
void carry_radii(const FixedMatrix& left, const FixedMatrix& right, FixedMatrix& result, int dropped) {
  const int h = magnitude_bits(left.limbs);
  const double share = std::ldexp(static_cast<double>(left.columns), h - dropped);
  const double worst = *std::max_element(right.column_radius.begin(), right.column_radius.end());
  const double both = 1 + std::ldexp(worst, -h);
  for (std::size_t i = 0; i < left.row_radius.size(); ++i)
    result.row_radius[i] = left.row_radius[i] == 0 ? 0.5 : upward(0.5 + left.row_radius[i] * share * both);
  for (std::size_t j = 0; j < right.column_radius.size(); ++j)
    result.column_radius[j] = upward(right.column_radius[j] * share);
}

std::vector<Tile> tiles_of(const FixedMatrix& result, const Schedule& schedule) {
  const Eigen::Index rows = std::max<Eigen::Index>(schedule.tile_rows, 1);
  const Eigen::Index columns = std::max<Eigen::Index>(schedule.tile_columns, 1);
  std::vector<Tile> tiles;
  for (Eigen::Index i = 0; i < result.rows; i += rows)
    for (Eigen::Index j = 0; j < result.columns; j += columns)
      tiles.push_back({i, std::min(rows, result.rows - i), j, std::min(columns, result.columns - j)});
  return tiles;
}

/// Every tile once, by as many threads as are asked for.
void run(const TileWork& work, const std::vector<Tile>& tiles, int threads) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t at = next++; at < tiles.size(); at = next++) work(tiles[at]);
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(take);
  take();
}

TileWork work_of(Route route, const Operands& operands, const Schedule& schedule) {
  if (route == Route::ifma) return ifma_route(operands, schedule.inner, schedule.threads);
  if (route == Route::blas) return residue_route(operands, schedule.inner);
  return exact_route(operands);
}

}  // namespace

bool available(Route route) { return route != Route::ifma || has_ifma(); }

Route fastest_route() { return has_ifma() ? Route::ifma : Route::blas; }

std::string name_of(Route route) {
  if (route == Route::ifma) return "AVX-512 IFMA";
  if (route == Route::exact) return "whole numbers of 128 bits";
  return blas() != nullptr ? "residues on OpenBLAS" : "residues on doubles";
}

FixedMatrix product(const FixedMatrix& left, const FixedMatrix& right, Route route, const Schedule& schedule) {
  require_operands(left, right);
  require(available(route), "the route needs AVX-512 IFMA, which is not there");
  FixedMatrix result = left.columns == 0 ? FixedMatrix(left.rows, right.columns, left.limbs)
                                         : FixedMatrix::unset(left.rows, right.columns, left.limbs);
  const int dropped = dropped_bits(left.limbs, left.columns);
  result.row_exponent = left.row_exponent;
  result.column_exponent = right.column_exponent;
  for (int& e : result.row_exponent) e += dropped;
  if (left.columns == 0 || result.size() == 0) return result;
  carry_radii(left, right, result, dropped);
  run(work_of(route, {left, right, result}, schedule), tiles_of(result, schedule), schedule.threads);
  return result;
}

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
