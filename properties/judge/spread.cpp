// Whether a tensor's errors lie within their spread.
#include "properties/judge/spread.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

namespace tally {
namespace {

/// Below it the chance is too large for any verdict, whatever elements share.
double log_of_warning() { return log10_share(warning_alpha) * std::numbers::ln10; }

double tail(double z) { return std::min(0.0, std::numbers::ln2 - z * z / 2); }

/// ln of the chance that the sum of n squares, g of them at most together, reaches `sum`.
double tail_of_squares(double sum, double n, double g) {
  if (!(sum > n)) return 0;
  const double root = (std::sqrt(n * g + 2 * g * (sum - n)) - std::sqrt(n * g)) / (2 * g);
  return -root * root;
}

class Tests {
 public:
  /// `expected`: nullptr where nobody has all of it, and elements that may share a rounding are not looked for.
  Tests(const TensorErrors& errors, const ErrorTotals& totals, double sharing, const oracle::Expected* expected,
        const Leans& leans)
      : errors_(errors), totals_(totals), sharing_(sharing), expected_(expected), leans_(leans) {
    if (totals_.count == 0) return;
    element();
    tensor();
    along("itself", totals_.itself, nullptr);
    for (std::size_t k = 0; k < errors.along.size(); ++k)
      along(errors.names[k], totals_.directions[k], &errors.along[k]);
  }

  const std::vector<SpreadFinding>& findings() const { return findings_; }
  std::uint64_t comparisons() const { return comparisons_; }

 private:
  void element() {
    const double worst = beyond_lean("element", totals_.worst);
    take("element", std::min(0.0, tail(worst) + std::log(totals_.count)), worst, 0);
    comparisons_ += static_cast<std::uint64_t>(totals_.count) - 1;
  }

  void tensor() {
    const double count = totals_.count, root_mean_square = std::sqrt(totals_.squares / count);
    const double deviation = beyond_lean("tensor", root_mean_square), sum = deviation * deviation * count;
    double most = std::min(sharing_, count);
    if (expected_ != nullptr && tail_of_squares(sum, count, most) < log_of_warning()) {
      groups().each(
          [&](std::span<const Eigen::Index> members) { most = std::max(most, static_cast<double>(members.size())); });
    }
    take("tensor", tail_of_squares(sum, count, most), deviation, 0);
  }

  /// `direction`: nullptr along the exact value itself.
  void along(const std::string& name, const ErrorsAlong& line, const oracle::FloatView* direction) {
    double variance = std::min(sharing_ * line.variance, line.spread * line.spread);
    if (!(variance > 0) || !std::isfinite(variance) || !std::isfinite(line.projection)) return;
    const double beyond = std::max(0.0, std::fabs(line.projection) - line.fixed);
    if (expected_ != nullptr && tail(beyond / std::sqrt(variance)) < log_of_warning())
      variance = std::max(variance, grouped_variance(direction));
    const double z = beyond_lean("along " + name, beyond / std::sqrt(variance));
    take("along " + name, tail(z), z, line.projection / line.squares);
  }

  double beyond_lean(const std::string& test, double deviation) const {
    const auto lean = leans_.find(test);
    return lean == leans_.end() ? deviation : std::max(0.0, deviation - lean->second);
  }

  const SpreadSamples& samples() {
    if (samples_) return *samples_;
    samples_.emplace(expected_->v.size());
    samples_->take(*expected_, errors_.got.data(), 0);
    return *samples_;
  }
  const AlikeGroups& groups() {
    if (!groups_) groups_.emplace(samples());
    return *groups_;
  }

  /// Elements of a group may all err together.
  double grouped_variance(const oracle::FloatView* direction) {
    const Eigen::ArrayXd w =
        direction == nullptr ? Eigen::ArrayXd(samples().exact.head(samples().count)) : samples().of(*direction);
    double variance = 0;
    groups().each([&](std::span<const Eigen::Index> members) {
      double sigma = 0;
      for (const Eigen::Index i : members) sigma += std::fabs(w[i]) * samples().sigma[i];
      variance += sigma * sigma;
    });
    return variance;
  }

  void take(const std::string& test, double log_chance, double deviation, double share) {
    ++comparisons_;
    findings_.push_back({test, 1, log_chance / std::numbers::ln10, deviation, share});
  }

  const TensorErrors& errors_;
  const ErrorTotals& totals_;
  const double sharing_;
  const oracle::Expected* expected_;
  const Leans& leans_;
  std::optional<SpreadSamples> samples_;
  std::optional<AlikeGroups> groups_;
  std::vector<SpreadFinding> findings_;
  std::uint64_t comparisons_ = 0;
};

/// A direction that explains enough to fail says more than how unlikely the tensor is.
bool names(const SpreadFinding& found) {
  return found.test.starts_with("along") && verdict_of(found.log10_chance) == SpreadVerdict::fail;
}

/// Whether the first of two findings is the one that is to be told.
bool tells_more(const SpreadFinding& found, const SpreadFinding& than) {
  if (names(found) != names(than)) return names(found);
  return found.log10_chance < than.log10_chance;
}

SpreadFinding told(const Tests& tests) {
  if (tests.findings().empty()) return {};
  SpreadFinding all = tests.findings().front();
  for (const SpreadFinding& found : tests.findings()) {
    if (tells_more(found, all)) all = found;
  }
  all.comparisons = tests.comparisons();
  return all;
}

bool has_random_part(const oracle::Expected& expected) {
  return expected.s.size() != 0 && expected.s.size() == expected.v.size();
}

}  // namespace

std::vector<SpreadFinding> spread_tests(const oracle::Expected& expected, const Tensor& got,
                                        const std::vector<Direction>& directions) {
  if (!has_random_part(expected)) return {};
  const TensorErrors errors(got, directions);
  ErrorTotals totals;
  errors.add(expected, 0, totals);
  return Tests(errors, totals, expected.sharing, &expected, {}).findings();
}

SpreadFinding spread_of(const oracle::Expected& expected, const Tensor& got, const std::vector<Direction>& directions,
                        const Leans& leans) {
  if (!has_random_part(expected)) return {};
  const TensorErrors errors(got, directions);
  ErrorTotals totals;
  errors.add(expected, 0, totals);
  return told(Tests(errors, totals, expected.sharing, &expected, leans));
}

struct StretchSpread::Held {
  TensorErrors errors;
  ErrorTotals totals;
  Eigen::Index elements = 0;
  double sharing = 1;
};

StretchSpread::StretchSpread(const Tensor& got, const std::vector<Direction>& directions)
    : held_(std::make_unique<Held>(Held{TensorErrors(got, directions), {}})) {}
StretchSpread::~StretchSpread() = default;

void StretchSpread::add(const oracle::Expected& next) {
  if (has_random_part(next)) held_->errors.add(next, held_->elements, held_->totals);
  held_->elements += next.v.size();
  held_->sharing = std::max(held_->sharing, next.sharing);
}

SpreadFinding StretchSpread::found() const {
  return told(Tests(held_->errors, held_->totals, held_->sharing, nullptr, {}));
}

void SpreadSamples::take(const oracle::Expected& expected, const float* held, Eigen::Index first, Eigen::Index offset) {
  count = 0;
  const Eigen::Index last = std::min(first + size(), expected.v.size());
  for (Eigen::Index i = first; i < last; ++i) {
    const double e = expected.e.data()[i], s = expected.s.data()[i];
    const long double v = expected.v.data()[i];
    const double value = held[offset + i], came = static_cast<double>(v);
    if (!(s > 0) || !(e < INFINITY) || !std::isfinite(came) || !std::isfinite(value)) continue;
    const Eigen::Index n = count++;
    exact[n] = came;
    got[n] = value;
    error[n] = static_cast<double>(value - v);
    fixed[n] = std::max(0.0, e - expected.r.data()[i]);
    sigma[n] = s;
    at[n] = offset + i;
  }
  sigma.head(count) = sigma.head(count).sqrt();
  z.head(count) = (error.head(count).abs() - fixed.head(count)).max(0.0) / sigma.head(count);
}

Eigen::ArrayXd SpreadSamples::of(const oracle::FloatView& tensor) const {
  Eigen::ArrayXd each(count);
  for (Eigen::Index i = 0; i < count; ++i) each[i] = tensor.data()[at[i]];
  return each;
}

AlikeGroups::AlikeGroups(const SpreadSamples& samples) : order_(static_cast<std::size_t>(samples.count)) {
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

void ErrorsAlong::add(const Eigen::Ref<const Eigen::ArrayXd>& w, const SpreadSamples& samples) {
  const auto n = samples.count;
  projection += (w * samples.error.head(n)).sum();
  fixed += (w.abs() * samples.fixed.head(n)).sum();
  const Eigen::ArrayXd each = (w * samples.sigma.head(n)).abs();
  variance += each.square().sum();
  spread += each.sum();
  squares += w.square().sum();
}

TensorErrors::TensorErrors(const Tensor& tensor, const std::vector<Direction>& all) : got(tensor) {
  for (const Direction& direction : all) {
    if (direction.tensor == nullptr || direction.tensor->elements() != tensor.elements()) continue;
    names.push_back(direction.name);
    along.emplace_back(*direction.tensor);
  }
}

void TensorErrors::add(const oracle::Expected& expected, Eigen::Index offset, ErrorTotals& all) const {
  constexpr Eigen::Index most = 2048;  // at a time, which fit a cache
  all.directions.resize(along.size());
  SpreadSamples samples(std::min(most, expected.v.size()));
  for (Eigen::Index first = 0; first < expected.v.size(); first += most) {
    samples.take(expected, got.data(), first, offset);
    if (samples.count == 0) continue;
    all.count += static_cast<double>(samples.count);
    all.worst = std::max(all.worst, samples.z.head(samples.count).maxCoeff());
    all.squares += samples.z.head(samples.count).square().sum();
    all.itself.add(samples.exact.head(samples.count), samples);
    for (std::size_t k = 0; k < along.size(); ++k) all.directions[k].add(samples.of(along[k]), samples);
  }
}

}  // namespace tally
