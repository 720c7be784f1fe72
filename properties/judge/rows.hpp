// Some rows of a tensor or of an expectation, and rows of several joined.
#pragma once

#include <vector>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/expected.hpp"
#include "properties/lenses/value.hpp"

namespace tally {

// Some rows of a tensor, as a tensor of its own.

/// Rows [first, first + count) of a tensor whose first dimension counts rows.
Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t count);

/// Equal dtype, shape and bytes, compared as one block.
bool same_bits(const Tensor& a, const Tensor& b);

// Rows of expectations, joined and cut: micro-batches that go through a layer together.

inline oracle::Expected stacked(const std::vector<oracle::Expected>& parts) {
  Eigen::Index rows = 0;
  for (const auto& part : parts) rows += part.v.rows();
  const Eigen::Index columns = parts.empty() ? 0 : parts.front().v.cols();
  oracle::Expected whole{oracle::Matrix<long double>(rows, columns), oracle::Matrix<double>(rows, columns)};
  Eigen::Index first = 0;
  for (const auto& part : parts) {
    whole.v.middleRows(first, part.v.rows()) = part.v;
    whole.e.middleRows(first, part.v.rows()) = part.e;
    first += part.v.rows();
  }
  return whole;
}

inline oracle::Expected stacked(const std::vector<Value>& parts) {
  std::vector<oracle::Expected> read;
  for (const Value& part : parts) read.push_back(*part.read());
  return stacked(read);
}

inline oracle::Expected rows_of(const oracle::Expected& whole, Eigen::Index first, Eigen::Index count) {
  return {whole.v.middleRows(first, count), whole.e.middleRows(first, count)};
}

/// The same shape with everything but those rows zero.
inline oracle::Expected only_rows(const oracle::Expected& whole, Eigen::Index first, Eigen::Index count) {
  oracle::Expected kept{oracle::Matrix<long double>::Zero(whole.v.rows(), whole.v.cols()),
                        oracle::Matrix<double>::Zero(whole.v.rows(), whole.v.cols())};
  kept.v.middleRows(first, count) = whole.v.middleRows(first, count);
  kept.e.middleRows(first, count) = whole.e.middleRows(first, count);
  return kept;
}

}  // namespace tally
