// What the three routes share: the operands, and a tile of the result as the unit of work.
#pragma once

#include <functional>

#include "oracle/fixed/matrix.hpp"

namespace tally::oracle::fixed {

struct Operands {
  const FixedMatrix& left;   // [m, n], scaled by rows
  const FixedMatrix& right;  // [n, p], scaled by columns
  FixedMatrix& result;       // [m, p]
  Eigen::Index terms() const { return left.columns; }
};

/// Rows first_row .. first_row + rows - 1 and columns likewise.
struct Tile {
  Eigen::Index first_row, rows, first_column, columns;
};

/// Writes one tile of the result; for several threads at once.
using TileWork = std::function<void(const Tile&)>;

}  // namespace tally::oracle::fixed
