#include "properties/compare/spread.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

namespace tally {
namespace {

/// The elements with a random part, one array a quantity: their errors, the bound on the deterministic part, the
/// spread, and |error| beyond that bound in units of the spread.
struct Samples {
  explicit Samples(Eigen::Index most)
      : exact(most), got(most), error(most), fixed(most), sigma(most), z(most), at(most) {}

  Eigen::Index count = 0;
  Eigen::ArrayXd exact, got, error, fixed, sigma, z;
  Eigen::Array<Eigen::Index, Eigen::Dynamic, 1> at;  // in the tensor
};

/// Below it the chance is too large for any verdict, whatever elements share.
double log_of_warning() { return log10_share(warning_alpha) * std::numbers::ln10; }

Samples samples_of(const oracle::Expected& expected, const Tensor& got) {
  Samples samples(expected.v.size());
  const oracle::Matrix<float> held = oracle::floats_of(got);
  for (Eigen::Index i = 0; i < expected.v.size(); ++i) {
    const double e = expected.e.data()[i], s = expected.s.data()[i];
    const long double v = expected.v.data()[i];
    const double value = held.data()[i], exact = static_cast<double>(v);
    if (!(s > 0) || !(e < INFINITY) || !std::isfinite(exact) || !std::isfinite(value)) continue;
    const Eigen::Index n = samples.count++;
    samples.exact[n] = exact;
    samples.got[n] = value;
    samples.error[n] = static_cast<double>(value - v);
    samples.fixed[n] = std::max(0.0, e - expected.r.data()[i]);
    samples.sigma[n] = s;
    samples.at[n] = i;
  }
  const auto n = samples.count;
  samples.sigma.head(n) = samples.sigma.head(n).sqrt();
  samples.z.head(n) = (samples.error.head(n).abs() - samples.fixed.head(n)).max(0.0) / samples.sigma.head(n);
  return samples;
}

/// Runs of elements that may share their rounding errors: those that came to the same significand. Where exact values
/// crowd within one ulp, they all are rounded the same way.
class Groups {
 public:
  explicit Groups(const Samples& samples) : order_(static_cast<std::size_t>(samples.count)) {
    std::vector<double> significand(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      int exponent = 0;
      significand[i] = std::fabs(std::frexp(samples.got[static_cast<Eigen::Index>(i)], &exponent));
      order_[i] = static_cast<Eigen::Index>(i);
    }
    const auto of = [&](Eigen::Index i) { return significand[static_cast<std::size_t>(i)]; };
    std::sort(order_.begin(), order_.end(),
              [&](Eigen::Index a, Eigen::Index b) { return of(a) != of(b) ? of(a) < of(b) : a < b; });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i == 0 || of(order_[i]) != of(order_[i - 1])) begins_.push_back(i);
    }
    begins_.push_back(order_.size());
  }

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

double tail(double z) { return std::min(0.0, std::numbers::ln2 - z * z / 2); }

/// ln of the chance that the sum of n squares, g of them at most together, reaches `sum`.
double tail_of_squares(double sum, double n, double g) {
  if (!(sum > n)) return 0;
  const double root = (std::sqrt(n * g + 2 * g * (sum - n)) - std::sqrt(n * g)) / (2 * g);
  return -root * root;
}

class Tests {
 public:
  Tests(const Samples& samples, double sharing, const Leans& leans)
      : samples_(samples), sharing_(sharing), leans_(leans) {}

  void element() {
    const double worst = beyond_lean("element", samples_.z.head(samples_.count).maxCoeff());
    take("element", std::min(0.0, tail(worst) + std::log(count())), worst, 0);
    comparisons_ += static_cast<std::uint64_t>(samples_.count) - 1;
  }

  void tensor() {
    const double root_mean_square = std::sqrt(samples_.z.head(samples_.count).square().sum() / count());
    const double deviation = beyond_lean("tensor", root_mean_square), sum = deviation * deviation * count();
    double most = std::min(sharing_, count());
    if (tail_of_squares(sum, count(), most) < log_of_warning()) {
      groups().each(
          [&](std::span<const Eigen::Index> members) { most = std::max(most, static_cast<double>(members.size())); });
    }
    take("tensor", tail_of_squares(sum, count(), most), deviation, 0);
  }

  /// w: the direction's components at the samples.
  void along(const std::string& name, const Eigen::Ref<const Eigen::ArrayXd>& w) {
    const auto n = samples_.count;
    const double projection = (w * samples_.error.head(n)).sum();
    const double fixed = (w.abs() * samples_.fixed.head(n)).sum();
    const Eigen::ArrayXd spread = (w * samples_.sigma.head(n)).abs();
    double variance = std::min(sharing_ * spread.square().sum(), spread.sum() * spread.sum());
    if (!(variance > 0) || !std::isfinite(variance) || !std::isfinite(projection)) return;
    const double beyond = std::max(0.0, std::fabs(projection) - fixed);
    if (tail(beyond / std::sqrt(variance)) < log_of_warning()) variance = std::max(variance, grouped_variance(w));
    const double z = beyond_lean("along " + name, beyond / std::sqrt(variance));
    take("along " + name, tail(z), z, projection / w.square().sum());
  }

  const std::vector<SpreadFinding>& findings() const { return findings_; }
  std::uint64_t comparisons() const { return comparisons_; }

 private:
  double count() const { return static_cast<double>(samples_.count); }

  double beyond_lean(const std::string& test, double deviation) const {
    const auto lean = leans_.find(test);
    return lean == leans_.end() ? deviation : std::max(0.0, deviation - lean->second);
  }

  const Groups& groups() {
    if (!groups_) groups_.emplace(samples_);
    return *groups_;
  }

  /// Elements of a group may all err together.
  double grouped_variance(const Eigen::Ref<const Eigen::ArrayXd>& w) {
    double variance = 0;
    groups().each([&](std::span<const Eigen::Index> members) {
      double sigma = 0;
      for (const Eigen::Index i : members) sigma += std::fabs(w[i]) * samples_.sigma[i];
      variance += sigma * sigma;
    });
    return variance;
  }

  void take(const std::string& test, double log_chance, double deviation, double share) {
    ++comparisons_;
    findings_.push_back({test, 1, log_chance / std::numbers::ln10, deviation, share});
  }

  const Samples& samples_;
  const double sharing_;
  const Leans& leans_;
  std::optional<Groups> groups_;
  std::vector<SpreadFinding> findings_;
  std::uint64_t comparisons_ = 0;
};

/// A direction that explains enough to fail says more than how unlikely the tensor is.
bool names(const SpreadFinding& found) {
  return found.test.starts_with("along") && verdict_of(found.log10_chance) == SpreadVerdict::fail;
}

/// Of two findings the one that is to be told.
bool tells_more(const SpreadFinding& found, const SpreadFinding& than) {
  if (names(found) != names(than)) return names(found);
  return found.log10_chance < than.log10_chance;
}

Tests tested(const Samples& samples, const oracle::Expected& expected, const Tensor& got,
             const std::vector<Direction>& directions, const Leans& leans) {
  Tests tests(samples, expected.sharing, leans);
  tests.element();
  tests.tensor();
  tests.along("itself", samples.exact.head(samples.count));
  for (const Direction& direction : directions) {
    if (direction.tensor == nullptr || direction.tensor->elements() != got.elements()) continue;
    const oracle::Matrix<float> all = oracle::floats_of(*direction.tensor);
    Eigen::ArrayXd w(samples.count);
    for (Eigen::Index i = 0; i < samples.count; ++i) w[i] = all.data()[samples.at[i]];
    tests.along(direction.name, w);
  }
  return tests;
}

bool has_random_part(const oracle::Expected& expected) {
  return expected.s.size() != 0 && expected.s.size() == expected.v.size();
}

}  // namespace

std::vector<SpreadFinding> spread_tests(const oracle::Expected& expected, const Tensor& got,
                                        const std::vector<Direction>& directions) {
  if (!has_random_part(expected)) return {};
  const Samples samples = samples_of(expected, got);
  return samples.count == 0 ? std::vector<SpreadFinding>() : tested(samples, expected, got, directions, {}).findings();
}

SpreadFinding spread_of(const oracle::Expected& expected, const Tensor& got, const std::vector<Direction>& directions,
                        const Leans& leans) {
  if (!has_random_part(expected)) return {};
  const Samples samples = samples_of(expected, got);
  if (samples.count == 0) return {};
  const Tests tests = tested(samples, expected, got, directions, leans);
  SpreadFinding told = tests.findings().front();
  for (const SpreadFinding& found : tests.findings()) {
    if (tells_more(found, told)) told = found;
  }
  told.comparisons = tests.comparisons();
  return told;
}

}  // namespace tally
