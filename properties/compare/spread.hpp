// The statistical lens: a tensor's errors against their predicted spread. It sees what stays inside a worst-case bound:
// fewer bits than declared, a small wrong factor, a leak. oracle/spread.md derives the tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "oracle/case/tensor.hpp"
#include "oracle/tolerance/expected.hpp"
#include "reports/record/record.hpp"
#include "reports/record/spread.hpp"

namespace tally {

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

}  // namespace tally
