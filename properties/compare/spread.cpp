#include "properties/compare/spread.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tally {
namespace {

/// One element with a random part: its error, the bound on the deterministic part, the spread, and the significand of
/// its exact value.
struct Sample {
  double exact, error, fixed, sigma, significand;
  std::size_t at;
  double beyond() const { return std::max(0.0, std::fabs(error) - fixed); }
  double z() const { return beyond() / sigma; }
};

/// Below it the chance is too large for any verdict, whatever elements share.
double log_of_warning() { return log10_share(warning_alpha) * std::numbers::ln10; }

std::vector<Sample> samples_of(const oracle::Expected& expected, const Tensor& got) {
  std::vector<Sample> samples;
  if (expected.s.size() != expected.v.size()) return samples;
  for (Eigen::Index i = 0; i < expected.v.size(); ++i) {
    const double e = expected.e.data()[i], s = expected.s.data()[i];
    const long double v = expected.v.data()[i];
    const double value = got.value(static_cast<std::size_t>(i));
    if (!(s > 0) || !(e < INFINITY) || !std::isfinite(v) || !std::isfinite(value)) continue;
    int exponent = 0;
    const double significand = std::fabs(std::frexp(static_cast<double>(v), &exponent));
    samples.push_back({static_cast<double>(v), static_cast<double>(value - v), std::max(0.0, e - expected.r.data()[i]),
                       std::sqrt(s), significand, static_cast<std::size_t>(i)});
  }
  return samples;
}

/// Sorted, so that elements that may share their rounding errors stand together: the same significand.
void group(std::vector<Sample>& samples) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return a.significand != b.significand ? a.significand < b.significand : a.at < b.at;
  });
}

template <class F>
void each_group(const std::vector<Sample>& samples, F&& f) {
  for (std::size_t first = 0, last = 0; first < samples.size(); first = last) {
    while (last < samples.size() && samples[last].significand == samples[first].significand) ++last;
    f(first, last);
  }
}

double tail(double z) { return std::min(0.0, std::numbers::ln2 - z * z / 2); }

/// ln of the chance that the sum of n squares, g of them at most together, reaches `sum`.
double tail_of_squares(double sum, double n, double g) {
  if (!(sum > n)) return 0;
  const double root = (std::sqrt(n * g + 2 * g * (sum - n)) - std::sqrt(n * g)) / (2 * g);
  return -root * root;
}

class Tests {
 public:
  explicit Tests(std::vector<Sample> samples) : samples_(std::move(samples)) {}

  void element() {
    double worst = 0;
    for (const Sample& x : samples_) worst = std::max(worst, x.z());
    take("element", std::min(0.0, tail(worst) + std::log(count())), worst, 0);
    finding_.comparisons += samples_.size() - 1;
  }

  void tensor() {
    double sum = 0, most = 1;
    for (const Sample& x : samples_) sum += x.z() * x.z();
    if (tail_of_squares(sum, count(), 1) < log_of_warning()) {
      grouped();
      each_group(samples_, [&](std::size_t first, std::size_t last) {
        most = std::max(most, static_cast<double>(last - first));
      });
    }
    take("tensor", tail_of_squares(sum, count(), most), std::sqrt(sum / count()), 0);
  }

  /// weight(x): the direction's component at x.
  template <class Weight>
  void along(const std::string& name, Weight&& weight) {
    double projection = 0, fixed = 0, variance = 0, squares = 0;
    for (const Sample& x : samples_) {
      const double w = weight(x);
      projection += w * x.error;
      fixed += std::fabs(w) * x.fixed;
      variance += w * w * x.sigma * x.sigma;
      squares += w * w;
    }
    if (!(variance > 0) || !std::isfinite(variance) || !std::isfinite(projection)) return;
    const double beyond = std::max(0.0, std::fabs(projection) - fixed);
    if (tail(beyond / std::sqrt(variance)) < log_of_warning()) variance = grouped_variance(weight);
    const double z = beyond / std::sqrt(variance);
    take("along " + name, tail(z), z, projection / squares);
  }

  const SpreadFinding& finding() const { return finding_; }

 private:
  double count() const { return static_cast<double>(samples_.size()); }

  void grouped() {
    if (!std::exchange(is_grouped_, true)) group(samples_);
  }

  /// Elements of a group may all err together.
  template <class Weight>
  double grouped_variance(Weight&& weight) {
    grouped();
    double variance = 0;
    each_group(samples_, [&](std::size_t first, std::size_t last) {
      double sigma = 0;
      for (std::size_t i = first; i < last; ++i) sigma += std::fabs(weight(samples_[i])) * samples_[i].sigma;
      variance += sigma * sigma;
    });
    return variance;
  }

  void take(const std::string& test, double log_chance, double deviation, double share) {
    ++finding_.comparisons;
    SpreadFinding found{test, finding_.comparisons, log_chance / std::numbers::ln10, deviation, share};
    const bool alike = named_ == names(found);
    if (!finding_.test.empty() && (alike ? finding_.log10_chance <= found.log10_chance : named_)) return;
    named_ = names(found);
    finding_ = std::move(found);
  }

  /// A direction that explains enough to fail says more than how unlikely the tensor is.
  static bool names(const SpreadFinding& found) {
    return found.test.starts_with("along") && verdict_of(found.log10_chance) == SpreadVerdict::fail;
  }

  std::vector<Sample> samples_;
  bool is_grouped_ = false, named_ = false;
  SpreadFinding finding_;
};

}  // namespace

SpreadFinding spread_of(const oracle::Expected& expected, const Tensor& got, const std::vector<Direction>& directions) {
  auto samples = samples_of(expected, got);
  if (samples.empty()) return {};
  Tests tests(std::move(samples));
  tests.element();
  tests.tensor();
  tests.along("itself", [](const Sample& x) { return x.exact; });
  for (const Direction& w : directions) {
    if (w.tensor == nullptr || w.tensor->elements() != got.elements()) continue;
    tests.along(w.name, [&](const Sample& x) { return w.tensor->value(x.at); });
  }
  return tests.finding();
}

}  // namespace tally
