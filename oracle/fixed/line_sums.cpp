#include "oracle/fixed/line_sums.hpp"

#include <algorithm>
#include <numeric>

#include "oracle/fixed/in_parts.hpp"

namespace tally::oracle::fixed {
namespace {

constexpr Eigen::Index before_carry = 1 << 10;  // numbers that are added without an overflow
constexpr Eigen::Index read_beyond = 8;

}  // namespace

LineSums::LineSums(const FixedMatrix& matrix, bool by_rows, int threads)
    : lines_((by_rows ? matrix.rows : matrix.columns) + read_beyond),
      sums_(static_cast<std::size_t>((matrix.limbs + 1) * lines_), 0) {
  in_parts(lines_ - read_beyond, threads, [&](Eigen::Index first, Eigen::Index end) {
    if (by_rows)
      add_rows(matrix, first, end);
    else
      add_columns(matrix, first, end);
  });
}

void LineSums::add_rows(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end) {
  for (int l = 0; l < matrix.limbs; ++l) {
    std::uint64_t *sum = limb(l), *above = limb(l + 1);
    const std::uint64_t* from = matrix.plane(l) + first * matrix.columns;
    for (Eigen::Index i = first; i < end; ++i, from += matrix.columns) {
      for (Eigen::Index j = 0; j < matrix.columns; j += before_carry) {
        const std::uint64_t part = std::accumulate(from + j, from + std::min(j + before_carry, matrix.columns), sum[i]);
        sum[i] = part & limb_mask;
        above[i] += part >> limb_bits;
      }
    }
  }
}

void LineSums::add_columns(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end) {
  for (int l = 0; l < matrix.limbs; ++l) {
    std::uint64_t *sum = limb(l), *above = limb(l + 1);
    const std::uint64_t* from = matrix.plane(l);
    for (Eigen::Index i = 0; i < matrix.rows; ++i, from += matrix.columns) {
      for (Eigen::Index j = first; j < end; ++j) sum[j] += from[j];
      if ((i + 1) % before_carry != 0 && i + 1 != matrix.rows) continue;
      for (Eigen::Index j = first; j < end; ++j) {
        above[j] += sum[j] >> limb_bits;
        sum[j] &= limb_mask;
      }
    }
  }
}

}  // namespace tally::oracle::fixed
