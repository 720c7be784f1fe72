#include "properties/compare/spread_samples.hpp"

#include <algorithm>
#include <cmath>

namespace tally {

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
