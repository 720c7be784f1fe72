// What is found of one tensor while it is held against its expectation: the census, the worst element, the verdict.
#pragma once

#include <optional>

#include "properties/compare/judge.hpp"

namespace tally {

/// One element: exact value, bound and what came, the error, and where its format overflows.
struct HeldElement {
  double v, e, got, error, threshold;
};

/// What the last rounding of a number may err by: half an ulp of the format that it is stored in.
class LastRounding {
 public:
  explicit LastRounding(Dtype dtype);
  /// Half an ulp at the larger of two sizes; 0 for integers.
  double at(double v, double got) const;

 private:
  double least_ = 0, share_ = 0;
};

/// The share of a bound that is used beyond the last rounding u; of a broken bound r, which is `ratio`. 0 where there is
/// no room for a second rounding as large, and where the bits are known.
double excess_of(const HeldElement& x, double u, double ratio);

/// judge() in its parts: elements are held in row-major order, any number at a time.
class TensorVerdict {
 public:
  TensorVerdict(const Place& place, const Tensor& got);

  /// The next elements.
  void hold(const oracle::Expected& expected);
  /// The subject's own bits are those expected. False where one of them is not finite, as each of these is judged.
  bool hold_equal(const oracle::Matrix<float>& both);
  /// Throws std::logic_error unless all elements are held: what nobody looked at is not inside its bound.
  TensorCheck finish();

 private:
  struct Sums {
    double v = 0, e = 0, error = 0;
  };
  struct Stretch;

  HeldElement element(long double v, double e, long double got) const;
  void hold_integers(const Stretch& next);
  Eigen::Index after_plain_ones(Eigen::Index i, const Stretch& next);
  void examine(std::size_t i, const HeldElement& x);
  void keep(std::size_t i, const HeldElement& x, double ratio);

  const Tensor& got_;
  std::optional<oracle::FloatView> floats_;  // of got, unless it holds integers
  Eigen::Index held_ = 0;                    // elements so far
  double threshold_;
  LastRounding last_;
  TensorCheck check_;
  Sums squares_;
  bool undecided_ = false, zero_ = true;
};

/// The position of element i in a tensor of this shape.
std::vector<std::int64_t> index_in(std::size_t i, const std::vector<std::int64_t>& shape);

}  // namespace tally
