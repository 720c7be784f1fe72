// The rows of one window as the loss sees them: data, targets, weights, and the factor of each row's loss in the sum
// whose gradient the window wants.
#pragma once

#include "oracle/layers/exact.hpp"
#include "oracle/window/trajectory.hpp"

namespace tally::oracle {

template <class T>
struct WindowRows {
  std::int64_t first = 0, count = 0;  // rows of x
  Cut cut;                            // micro-batches: one group on the full batch
  std::vector<std::size_t> steps;     // of ranks: the micro-step of each of them; empty on the full batch
  Matrix<T> x, target;                // x [rows, 1] of tokens; target [1, rows] of classes, as scored
  Matrix<T> positions;                // [rows, 1], of a model that reads them; else empty
  Matrix<T> places;                   // in their sequences, [rows, 1], of a model that reads these; else empty
  Matrix<T> item_weight, row_factor;  // [1, rows]; the factor is 1 / divisor, 0 where the divisor is 0
  T items;                            // N
};

template <class T>
WindowRows<T> window_rows(const Case& c, std::size_t window, Branch branch);

}  // namespace tally::oracle
