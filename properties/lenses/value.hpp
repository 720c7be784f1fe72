// What a stage reads or leaves.
#pragma once

#include <memory>
#include <utility>

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

}  // namespace tally
