#include "properties/compare/judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "properties/compare/lens.hpp"
#include "properties/compare/profile.hpp"
#include "properties/compare/tensor_rows.hpp"

namespace tally {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Below this share of the bound, a long double value cannot be told from an exact zero (oracle/tolerance/bounded.hpp).
constexpr double resolution_of_long_double = 0x1p-28;
/// A bound may be wide for another reason. Where a signal is nothing but its own rounding, the subject's is longer by
/// far: fp32's unit roundoff is 2^40 of long double's. Beside a longer value the signal is none to be called zero.
constexpr double rounding_of_nothing = 0x1p-28;

bool is_integer(Dtype dtype) { return dtype == Dtype::i64 || dtype == Dtype::u8; }

thread_local const JudgeObserver* observer = nullptr;

struct Element {
  double v, e, got, error, threshold;
};

enum class Finding { within, over, undecided, unexpected_non_finite };

Finding finding_of(const Element& x) {
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

double ratio_of(const Element& x) {
  if (!std::isfinite(x.got) || !std::isfinite(x.v)) return 0;
  return x.error == 0 ? 0 : x.e == 0 ? infinite : x.error / x.e;
}

/// The position of element i in the tensor's shape.
std::vector<std::int64_t> index_of(std::size_t i, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k]) index[k] = rest % shape[k];
  return index;
}

double threshold_of(Dtype dtype) {
  if (is_integer(dtype)) return infinite;
  return oracle::format_of(dtype).overflow_threshold();
}

/// What the last rounding of a number may err by: half an ulp of the format that it is stored in.
class LastRounding {
 public:
  explicit LastRounding(Dtype dtype) {
    if (is_integer(dtype)) return;
    const oracle::Format format = oracle::format_of(dtype);
    least_ = std::ldexp(1.0, format.emin), share_ = std::ldexp(1.0, -format.p);
  }
  /// At the larger of two sizes. Of integers 0.
  double at(double v, double got) const {
    constexpr std::uint64_t exponent = 0x7FF0'0000'0000'0000;
    const double size = std::max(std::fabs(v), std::fabs(got));
    return std::max(std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & exponent), least_) * share_;
  }

 private:
  double least_ = 0, share_ = 0;
};

/// A bound that holds one value alone ends where that value lies: an error so near to it tells nothing.
constexpr double next_to_one = 1 - 0x1p-12;

/// The share of a bound that is used beyond the last rounding u; of a broken bound r. 0 where there is no room for a
/// second rounding as large, and where the bits are known.
double excess_of(const Element& x, double u, double ratio) {
  if (ratio > 1) return ratio;
  const bool tells = u > 0 && x.e >= 2 * u && x.error < next_to_one * x.e;
  return tells && x.error > u ? (x.error - u) / (x.e - u) : 0;
}

using Values = Eigen::ArrayXd;

Values values_of(const Tensor& tensor) {
  Values values(static_cast<Eigen::Index>(tensor.elements()));
  const oracle::Matrix<float> held = oracle::floats_of(tensor);
  for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = held.data()[i];
  return values;
}

class Verdict {
 public:
  Verdict(const Place& place, const Tensor& got) : got_(got), threshold_(threshold_of(got.dtype)), last_(got.dtype) {
    check_.lens = place.lens;
    check_.tap = place.tap;
    check_.stage = place.stage;
    check_.elements = got.elements();
  }

  void hold(const oracle::Expected& expected) {
    const long double* v = expected.v.data();
    const double* e = expected.e.data();
    if (is_integer(got_.dtype)) return hold_integers(v, e);
    const Values got = values_of(got_);
    for (Eigen::Index i = 0; i < got.size(); ++i) {
      if (i > 0) i = after_plain_ones(i, v, e, got);
      if (i < got.size()) examine(static_cast<std::size_t>(i), element(v[i], e[i], got[i]));
    }
  }

  TensorCheck finish() {
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

 private:
  struct Sums {
    double v = 0, e = 0, error = 0;
  };

  Element element(long double v, double e, long double got) const {
    const auto error = static_cast<double>(std::fabs(got - v));
    return {static_cast<double>(v), e, static_cast<double>(got), error, threshold_};
  }

  /// A double does not hold every integer, a long double does.
  void hold_integers(const long double* v, const double* e) {
    for (std::size_t i = 0; i < got_.elements(); ++i) {
      examine(i, element(v[i], e[i], static_cast<long double>(got_.integer(i))));
    }
  }

  /// Nearly every element is finite throughout, inside its bound, and not the worst: counts those from i on, in local
  /// variables, and gives the first that is not.
  Eigen::Index after_plain_ones(Eigen::Index i, const long double* v, const double* e, const Values& got) {
    Sums squares = squares_;
    std::uint64_t differing = 0, uninformative = 0;
    bool zero = zero_;
    const double worst = check_.worst_ratio, excess = check_.excess;
    for (; i < got.size(); ++i) {
      const Element x = element(v[i], e[i], got[i]);
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

  void examine(std::size_t i, const Element& x) {
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
    const double ratio = failed && !(ratio_of(x) > 1) ? infinite : finding == Finding::undecided ? 0 : ratio_of(x);
    if (i == 0 || ratio > check_.worst_ratio) keep(i, x, ratio);
    check_.excess = std::max(check_.excess, excess_of(x, last_.at(x.v, x.got), ratio));
  }

  void keep(std::size_t i, const Element& x, double ratio) {
    check_.worst_ratio = ratio;
    check_.worst_index = index_of(i, got_.shape);
    check_.expected = x.v;
    check_.got = x.got;
    check_.error = x.error;
    check_.bound = x.e;
    const double u = last_.at(x.v, x.got);
    check_.roundings = u > 0 && std::isfinite(u) ? x.e / u : 0;
  }

  const Tensor& got_;
  double threshold_;
  LastRounding last_;
  TensorCheck check_;
  Sums squares_;
  bool undecided_ = false, zero_ = true;
};

TensorCheck of_other_shape(const Place& place, const Tensor& got) {
  TensorCheck check;
  check.lens = place.lens;
  check.tap = place.tap;
  check.stage = place.stage;
  check.status = Status::fail;
  check.failure = FailureClass::logic;
  check.elements = check.differing = check.over_bound = got.elements();
  check.worst_ratio = infinite;
  return check;
}

/// Same bits, ±0 as one value and NaN as one.
bool same(const Tensor& a, const Tensor& b, std::size_t i) {
  if (a.bits(i) == b.bits(i)) return true;
  if (is_integer(a.dtype)) return false;
  const double x = a.value(i), y = b.value(i);
  return x == y || (std::isnan(x) && std::isnan(y));
}

}  // namespace

JudgeObserver::JudgeObserver(See see) : see_(std::move(see)), before_(observer) { observer = this; }
JudgeObserver::~JudgeObserver() { observer = before_; }
bool JudgeObserver::present() { return observer != nullptr; }

TensorCheck judge(const Place& place, const oracle::Expected& expected, const Tensor& got) {
  if (static_cast<std::size_t>(expected.v.size()) != got.elements()) return of_other_shape(place, got);
  if (observer != nullptr) observer->see_(place, expected, got);
  return judge_bits(place, expected, got);
}

TensorCheck judge_bits(const Place& place, const oracle::Expected& known, const Tensor& got) {
  if (static_cast<std::size_t>(known.v.size()) != got.elements()) return of_other_shape(place, got);
  Verdict verdict(place, got);
  verdict.hold(known);
  TensorCheck check = verdict.finish();
  if (check.status == Status::fail) add_profile(check, known, got);
  return check;
}

TensorCheck not_run(const Place& place) {
  TensorCheck check;
  check.lens = place.lens;
  check.tap = place.tap;
  check.stage = place.stage;
  check.status = Status::not_run;
  return check;
}

TensorCheck bitwise_check(const std::string& tap, const std::string& stage, const Tensor& expected, const Tensor& got) {
  const Place place{"bitwise", tap, stage};
  if (expected.dtype != got.dtype || expected.shape != got.shape) return of_other_shape(place, got);
  TensorCheck check = not_run(place);
  check.status = Status::pass;
  check.elements = got.elements();
  check.zero_signal = false;
  if (same_bits(expected, got)) return check;
  for (std::size_t i = 0; i < got.elements(); ++i) {
    if (same(expected, got, i)) continue;
    if (check.differing++ > 0) continue;
    check.worst_index = index_of(i, got.shape);
    check.expected = expected.value(i);
    check.got = got.value(i);
    check.error = std::fabs(check.got - check.expected);
  }
  if (check.differing == 0) return check;
  check.over_bound = check.differing;
  check.worst_ratio = infinite;
  check.status = Status::fail;
  check.failure = FailureClass::logic;
  return check;
}

}  // namespace tally
