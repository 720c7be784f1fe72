// What a stage reads or leaves, and rows of it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "oracle/tolerance/expected.hpp"

namespace tally {

/// The subject's own bits, where a lens takes them from the trace; else what is expected, with its bound; or unknown.
/// Copies share the numbers. A tensor of bits must last.
class Value {
 public:
  Value() = default;
  Value(const Tensor* bits) : bits_(bits) {}
  Value(oracle::Expected expected) : expected_(std::make_shared<const oracle::Expected>(std::move(expected))) {}

  bool known() const { return bits_ != nullptr || expected_ != nullptr; }
  /// nullptr where it is expected, or unknown.
  const Tensor* bits() const { return bits_; }
  /// As a rule takes it; empty matrices where it is unknown.
  std::shared_ptr<const oracle::Expected> read() const {
    if (expected_ != nullptr) return expected_;
    return std::make_shared<const oracle::Expected>(bits_ == nullptr ? oracle::Expected{} : oracle::as_read(*bits_));
  }
  /// Some rows of the bits, of a rule that goes element by element.
  oracle::Expected rows(Eigen::Index first, Eigen::Index count) const {
    return bits_ == nullptr ? oracle::Expected{} : oracle::as_read(*bits_, first, count);
  }
  /// The bits as floats; empty where there are none.
  oracle::Matrix<float> floats() const {
    return bits_ == nullptr ? oracle::Matrix<float>() : oracle::floats_of(*bits_);
  }
  /// Whether both are the same bits, or one expectation.
  bool same_as(const Value& other) const;

 private:
  const Tensor* bits_ = nullptr;
  std::shared_ptr<const oracle::Expected> expected_;
};

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
