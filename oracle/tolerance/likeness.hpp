// How much is alike in a matrix that several products read, counted at the first question: a weight is an operand of
// every micro-batch's forward and backward, and counting sorts each of its rows and columns.
#pragma once

#include <optional>

#include "oracle/real/matrix.hpp"

namespace tally::oracle {

/// How many rows hold, in the same column, what a row holds there: the most on average over one row's columns, and the
/// most anywhere.
struct Repetition {
  double mean = 1, most = 1;
};

/// What is alike in one matrix, at one unit roundoff: whoever shares it asks with the same.
struct Likeness {
  std::optional<Eigen::ArrayXd> within_rows, within_columns;
  std::optional<Repetition> in_columns, in_rows;
};

}  // namespace tally::oracle
