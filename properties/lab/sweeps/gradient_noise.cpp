// The gradient noise scale, and windows of rows drawn with replacement.
#include <bit>
#include <stdexcept>

#include "oracle/case/tensors/drawing.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"

namespace tally {

long double squared_norm(const Point& p) {
  long double sum = 0;
  for (const long double each : p) sum += each * each;
  return sum;
}

Point mean_of(const std::vector<Point>& points) {
  Point sum;
  for (const Point& each : points) add_to(sum, 1, each);
  for (long double& each : sum) each /= static_cast<long double>(points.size());
  return sum;
}

GradientNoise exact_noise(const std::vector<Point>& row_gradients) {
  const Point mean = mean_of(row_gradients);
  GradientNoise noise{0, squared_norm(mean)};
  for (const Point& each : row_gradients) noise.trace += squared_norm(difference(each, mean));
  noise.trace /= static_cast<long double>(row_gradients.size());
  return noise;
}

GradientNoise estimated_noise(const std::vector<Point>& micro_batch_gradients, std::int64_t rows) {
  if (micro_batch_gradients.size() < 2) throw std::invalid_argument("an estimate needs two micro-batches");
  const auto count = static_cast<long double>(micro_batch_gradients.size()), b = static_cast<long double>(rows);
  long double small = 0;
  for (const Point& each : micro_batch_gradients) small += squared_norm(each) / count;
  const long double big = squared_norm(mean_of(micro_batch_gradients)), n = count * b;
  return {(small - big) / (1 / b - 1 / n), (n * big - b * small) / (n - b)};
}

namespace {

/// The i-th row of window t: any of them.
const Point& drawn_row(const DrawnWindows& windows, std::uint64_t t, std::int64_t i) {
  const Words words(windows.seed, static_cast<std::uint32_t>(t), static_cast<std::uint64_t>(i));
  return windows.row_gradients[words.below(0, windows.row_gradients.size())];
}

/// Neighbours averaged: the same rows in micro-batches twice as large.
std::vector<Point> joined(const std::vector<Point>& micro_batches) {
  std::vector<Point> pairs;
  for (std::size_t i = 0; i + 1 < micro_batches.size(); i += 2) {
    pairs.push_back(mean_of({micro_batches[i], micro_batches[i + 1]}));
  }
  return pairs;
}

}  // namespace

std::map<std::int64_t, NoiseEstimates> noise_estimates(const DrawnWindows& windows, std::int64_t window_rows) {
  std::map<std::int64_t, NoiseEstimates> all;
  for (std::uint64_t t = 0; t < windows.count; ++t) {
    std::vector<Point> micro_batches;
    for (std::int64_t i = 0; i < window_rows; ++i) micro_batches.push_back(drawn_row(windows, t, i));
    for (std::int64_t rows = 1; rows < window_rows; rows *= 2) {
      const GradientNoise each = estimated_noise(micro_batches, rows);
      all[rows].traces.push_back(static_cast<double>(each.trace));
      all[rows].squared_norms.push_back(static_cast<double>(each.squared_norm));
      micro_batches = joined(micro_batches);
    }
  }
  return all;
}

std::map<std::int64_t, std::vector<double>> squared_deviations(const DrawnWindows& windows, std::int64_t largest) {
  const Point mean = mean_of(windows.row_gradients);
  std::map<std::int64_t, std::vector<double>> all;
  for (std::uint64_t t = 0; t < windows.count; ++t) {
    Point sum;  // of g - G
    for (std::int64_t n = 1; n <= largest; ++n) {
      add_to(sum, 1, drawn_row(windows, t, n - 1));
      add_to(sum, -1, mean);
      if (!std::has_single_bit(static_cast<std::uint64_t>(n))) continue;
      all[n].push_back(static_cast<double>(squared_norm(sum)) / static_cast<double>(n * n));
    }
  }
  return all;
}

}  // namespace tally
