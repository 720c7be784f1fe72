#include "oracle/fixed/whole_product.hpp"

#include <algorithm>

#include "oracle/fixed/room.hpp"

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

}  // namespace tally::oracle::fixed
