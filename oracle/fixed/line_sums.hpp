// Sums over the lines of a matrix in fixed point: of its X, which hold 2^h each beside their number.
// Defined in line_sums.cpp.
#pragma once

#include "oracle/fixed/matrix.hpp"

namespace tally::oracle::fixed {

/// The sum of the X of each row, or of each column, carried: [L + 1][lines].
class LineSums {
 public:
  LineSums(const FixedMatrix& matrix, bool by_rows, int threads);
  /// Limb l of the sum of every line, and eight numbers more, so that whole vectors may be read.
  const std::uint64_t* limb(int l) const { return sums_.data() + l * lines_; }

 private:
  std::uint64_t* limb(int l) { return sums_.data() + l * lines_; }
  void add_rows(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end);
  void add_columns(const FixedMatrix& matrix, Eigen::Index first, Eigen::Index end);

  Eigen::Index lines_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace tally::oracle::fixed
