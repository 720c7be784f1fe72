// A tensor's errors as the statistical lens sums them: those with a random part, some neighbours at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "properties/compare/spread.hpp"

namespace tally {

/// The elements with a random part among some neighbours, one array a quantity: their errors, the bound on the
/// deterministic part, the spread, and |error| beyond that bound in units of the spread.
struct SpreadSamples {
  explicit SpreadSamples(Eigen::Index most)
      : exact(most), got(most), error(most), fixed(most), sigma(most), z(most), at(most) {}

  /// Elements first .. first + size() - 1 of what is expected; its element 0 is element `offset` of the tensor.
  void take(const oracle::Expected& expected, const float* held, Eigen::Index first, Eigen::Index offset = 0);
  Eigen::Index size() const { return exact.size(); }
  /// A tensor's elements at the samples.
  Eigen::ArrayXd of(const oracle::FloatView& tensor) const;

  Eigen::Index count = 0;
  Eigen::ArrayXd exact, got, error, fixed, sigma, z;
  Eigen::Array<Eigen::Index, Eigen::Dynamic, 1> at;  // in the tensor
};

/// Runs of elements that may share their rounding errors: those that came to the same significand. Where exact values
/// crowd within one ulp, they all are rounded the same way.
class AlikeGroups {
 public:
  explicit AlikeGroups(const SpreadSamples& samples);

  /// f of the members of each group.
  template <class F>
  void each(F&& f) const {
    for (std::size_t g = 0; g + 1 < begins_.size(); ++g) {
      f(std::span(order_).subspan(begins_[g], begins_[g + 1] - begins_[g]));
    }
  }

 private:
  std::vector<Eigen::Index> order_;
  std::vector<std::size_t> begins_;
};

/// The errors along w, the components of a direction at the samples.
struct ErrorsAlong {
  double projection = 0, fixed = 0, variance = 0, spread = 0, squares = 0;

  void add(const Eigen::Ref<const Eigen::ArrayXd>& w, const SpreadSamples& samples);
};

/// What the tests ask of a tensor.
struct ErrorTotals {
  double count = 0, worst = 0, squares = 0;
  ErrorsAlong itself;
  std::vector<ErrorsAlong> directions;
};

/// A tensor's errors and along what they may lean.
struct TensorErrors {
  TensorErrors(const Tensor& tensor, const std::vector<Direction>& all);

  /// Adds elements of which this is expected, from element `offset` on.
  void add(const oracle::Expected& expected, Eigen::Index offset, ErrorTotals& all) const;

  oracle::FloatView got;
  std::vector<std::string> names;
  std::vector<oracle::FloatView> along;
};

}  // namespace tally
