// Whether a tensor's errors lie within their spread.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oracle/case/tensors/tensor.hpp"
#include "oracle/tolerance/expected.hpp"
#include "reports/record/record.hpp"

namespace tally {

// The statistical lens: a tensor's errors against their predicted spread. It sees what stays inside a worst-case bound:
// fewer bits than declared, a small wrong factor, a leak. oracle/spread.md derives the tests.

/// A tensor along which a fault may lean: a wrong factor along the gradient itself, a decay along the parameters, a
/// leak along the momentum or the gradient of the micro-batch before. Same size as the tensor judged.
struct Direction {
  std::string name;
  const Tensor* tensor;
};

/// The elements whose error has a random part (and is finite), under three tests, each with a chance that holds for
/// mean-independent roundings to nearest:
///   element  the largest |error| beyond the deterministic part, in standard units z: 2 n exp(-z^2 / 2);
///   tensor   the sum of z^2: above n + 2 sqrt(n g t) + 2 g t with chance exp(-t), where at most g elements share their
///            rounding errors because they came to the same significand;
///   along w  |sum w error| beyond sum |w| d, in units of its own spread: 2 exp(-z^2 / 2); always along the exact value
///            ("along itself"), and along the directions given.
/// The finding is the least likely of them, or of those directions that fail by themselves; `comparisons` counts all.
/// Elements that may err together, by `sharing` of the expectation or because they came to one significand, are counted
/// once (oracle/spread.md). Only what a test deviates beyond its `lean` counts.
using Leans = std::map<std::string, double>;  // by test, in standard units
SpreadFinding spread_of(const oracle::Expected& expected, const Tensor& got, const std::vector<Direction>& directions,
                        const Leans& leans = {});

/// spread_of() of a tensor of which no more than a stretch is expected at a time, and without a look at which elements
/// came to one significand: at most as likely.
class StretchSpread {
 public:
  StretchSpread(const Tensor& got, const std::vector<Direction>& directions);
  ~StretchSpread();
  /// The next elements, row-major from the first on.
  void add(const oracle::Expected& next);
  SpreadFinding found() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

/// Each of the tests by itself, one comparison each.
std::vector<SpreadFinding> spread_tests(const oracle::Expected& expected, const Tensor& got,
                                        const std::vector<Direction>& directions);

// A tensor's errors as the statistical lens sums them: those with a random part, some neighbours at a time.

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
