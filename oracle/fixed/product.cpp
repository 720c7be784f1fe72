#include "oracle/fixed/product.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "oracle/fixed/blas.hpp"
#include "oracle/fixed/exact_sum.hpp"
#include "oracle/fixed/ifma.hpp"
#include "oracle/fixed/residue_product.hpp"

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

}  // namespace tally::oracle::fixed
