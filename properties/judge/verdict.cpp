// The census of a tensor's elements, and its verdict.
#include "properties/judge/verdict.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace tally {
namespace {

/// Below this share of the bound, a long double value cannot be told from an exact zero (oracle/tolerance/bounded.hpp).
constexpr double resolution_of_long_double = 0x1p-28;
/// A bound may be wide for another reason. A signal that is only its own rounding is far shorter than the subject's
/// value: fp32's unit roundoff is 2^40 of long double's. A signal as long as the subject's value is not called zero.
constexpr double rounding_of_nothing = 0x1p-28;

enum class Finding { within, over, undecided, unexpected_non_finite };

Finding finding_of(const HeldElement& x) {
  if (std::isnan(x.e) || x.e == infinite) return Finding::undecided;
  if (!std::isfinite(x.v)) return std::isfinite(x.got) ? Finding::over : Finding::within;
  if (std::isnan(x.got)) return Finding::unexpected_non_finite;
  if (std::isinf(x.got)) {
    const bool reachable = std::copysign(1.0, x.got) * x.v + x.e >= x.threshold;
    return reachable ? Finding::within : Finding::unexpected_non_finite;
  }
  const bool must_overflow = std::fabs(x.v) - x.e >= x.threshold;
  return !must_overflow && x.error <= x.e ? Finding::within : Finding::over;
}

double held_ratio(const HeldElement& x) {
  if (!std::isfinite(x.got) || !std::isfinite(x.v)) return 0;
  return x.error == 0 ? 0 : x.e == 0 ? infinite : x.error / x.e;
}

double threshold_of(Dtype dtype) {
  if (is_integer(dtype)) return infinite;
  return oracle::format_of(dtype).overflow_threshold();
}

/// A bound that admits only one value ends at that value: an error so near to the bound tells nothing.
constexpr double next_to_one = 1 - 0x1p-12;

}  // namespace

double excess_of(const HeldElement& x, double u, double ratio) {
  if (ratio > 1) return ratio;
  const bool tells = u > 0 && x.e >= 2 * u && x.error < next_to_one * x.e;
  return tells && x.error > u ? (x.error - u) / (x.e - u) : 0;
}

std::vector<std::int64_t> index_in(std::size_t i, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) index[k] = rest % shape[k];
  return index;
}

LastRounding::LastRounding(Dtype dtype) {
  if (is_integer(dtype)) return;
  const oracle::Format format = oracle::format_of(dtype);
  least_ = std::ldexp(1.0, format.emin), share_ = std::ldexp(1.0, -format.p);
}

double LastRounding::at(double v, double got) const {
  constexpr std::uint64_t exponent = 0x7FF0'0000'0000'0000;
  const double size = std::max(std::fabs(v), std::fabs(got));
  return std::max(std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & exponent), least_) * share_;
}

/// Elements of the tensor, and what is expected of them.
struct TensorVerdict::Stretch {
  Eigen::Index first, last;
  const long double* values;
  const double* bounds;
  long double v(Eigen::Index i) const { return values[i - first]; }
  double e(Eigen::Index i) const { return bounds[i - first]; }
};

TensorVerdict::TensorVerdict(const Place& place, const Tensor& got)
    : got_(got), threshold_(threshold_of(got.dtype)), last_(got.dtype) {
  check_.lens = place.lens;
  check_.tap = place.tap;
  check_.stage = place.stage;
  check_.elements = got.elements();
  if (!is_integer(got.dtype)) floats_.emplace(got);
}

void TensorVerdict::hold(const oracle::Expected& expected) {
  const Stretch next{held_, held_ + expected.v.size(), expected.v.data(), expected.e.data()};
  held_ = next.last;
  if (is_integer(got_.dtype)) return hold_integers(next);
  for (Eigen::Index i = next.first; i < next.last; ++i) {
    if (i > 0) i = after_plain_ones(i, next);
    if (i < next.last) examine(static_cast<std::size_t>(i), element(next.v(i), next.e(i), floats_->data()[i]));
  }
}

bool TensorVerdict::hold_equal(const oracle::Matrix<float>& both) {
  double squares = 0;
  bool zero = true;
  for (Eigen::Index i = 0; i < both.size(); ++i) {
    const double v = both.data()[i];
    squares += v * v;
    zero = zero && v == 0;
  }
  if (!std::isfinite(squares)) return false;
  if (both.size() > 0) keep(0, element(both.data()[0], 0, both.data()[0]), 0);
  squares_.v = squares;
  zero_ = zero;
  held_ = both.size();
  return true;
}

TensorCheck TensorVerdict::finish() {
  if (static_cast<std::size_t>(held_) != got_.elements())
    throw std::logic_error(check_.tap + ": " + std::to_string(held_) + " of " + std::to_string(got_.elements()) +
                           " elements were held");
  const bool is_rounding = squares_.v <= rounding_of_nothing * rounding_of_nothing * squares_.error;
  check_.zero_signal = zero_ && is_rounding && check_.elements > 0;
  check_.norm_expected = std::sqrt(squares_.v);
  check_.norm_error = std::sqrt(squares_.error);
  check_.norm_bound = undecided_ ? infinite : std::sqrt(squares_.e);
  if (check_.over_bound > 0) {
    check_.status = Status::fail;
    if (check_.failure == FailureClass::none) check_.failure = FailureClass::logic;
  } else if (undecided_ || (!check_.zero_signal && squares_.e > 0 && squares_.e >= squares_.v)) {
    check_.status = Status::vacuous;
  }
  return std::move(check_);
}

HeldElement TensorVerdict::element(long double v, double e, long double got) const {
  const auto error = static_cast<double>(std::fabs(got - v));
  return {static_cast<double>(v), e, static_cast<double>(got), error, threshold_};
}

/// A double does not hold every integer, a long double does.
void TensorVerdict::hold_integers(const Stretch& next) {
  for (Eigen::Index i = next.first; i < next.last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    examine(at, element(next.v(i), next.e(i), static_cast<long double>(got_.integer(at))));
  }
}

/// Nearly every element is finite throughout, inside its bound, and not the worst: counts those from i on, in local
/// variables, and gives the first that is not.
Eigen::Index TensorVerdict::after_plain_ones(Eigen::Index i, const Stretch& next) {
  Sums squares = squares_;
  std::uint64_t differing = 0, uninformative = 0;
  bool zero = zero_;
  const double worst = check_.worst_ratio, excess = check_.excess;
  const float* got = floats_->data();
  for (; i < next.last; ++i) {
    const HeldElement x = element(next.v(i), next.e(i), got[i]);
    const double size = std::fabs(x.v);
    if (!(x.error <= x.e && size + x.e < threshold_ && x.error <= worst * x.e)) break;
    const double u = last_.at(x.v, x.got);
    if (!(x.error <= std::max(u, u + excess * (x.e - u)))) break;
    differing += x.error > 0 && x.v != x.got;
    uninformative += x.e > 0 && x.e >= size;
    squares.v += x.v * x.v;
    squares.e += x.e * x.e;
    squares.error += x.error * x.error;
    zero = zero && size <= x.e * resolution_of_long_double;
  }
  squares_ = squares;
  check_.differing += differing;
  check_.uninformative += uninformative;
  zero_ = zero;
  return i;
}

void TensorVerdict::examine(std::size_t i, const HeldElement& x) {
  const double e = x.e, got = x.got, error = x.error;
  const Finding finding = finding_of(x);
  if (!std::isfinite(got)) ++check_.non_finite;
  if (!(error == 0) && !(std::isnan(x.v) && std::isnan(got)) && (x.v != got || error > 0)) ++check_.differing;
  if (finding == Finding::undecided || (e > 0 && e >= std::fabs(x.v))) ++check_.uninformative;
  undecided_ = undecided_ || finding == Finding::undecided;
  if (finding != Finding::undecided && std::isfinite(x.v)) {
    squares_.v += x.v * x.v;
    squares_.e += e * e;
    if (std::isfinite(got)) squares_.error += error * error;
    zero_ = zero_ && std::fabs(x.v) <= e * resolution_of_long_double;
  }
  zero_ = zero_ && std::isfinite(x.v) && finding != Finding::undecided;
  const bool failed = finding == Finding::over || finding == Finding::unexpected_non_finite;
  if (failed) ++check_.over_bound;
  if (finding == Finding::unexpected_non_finite) check_.failure = FailureClass::non_finite;
  const double ratio = failed && !(held_ratio(x) > 1) ? infinite : finding == Finding::undecided ? 0 : held_ratio(x);
  if (i == 0 || ratio > check_.worst_ratio) keep(i, x, ratio);
  check_.excess = std::max(check_.excess, excess_of(x, last_.at(x.v, x.got), ratio));
}

void TensorVerdict::keep(std::size_t i, const HeldElement& x, double ratio) {
  check_.worst_ratio = ratio;
  check_.worst_index = index_in(i, got_.shape);
  check_.expected = x.v;
  check_.got = x.got;
  check_.error = x.error;
  check_.bound = x.e;
  const double u = last_.at(x.v, x.got);
  check_.roundings = u > 0 && std::isfinite(u) ? x.e / u : 0;
}

}  // namespace tally
