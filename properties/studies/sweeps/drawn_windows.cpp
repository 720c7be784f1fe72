#include "properties/studies/sweeps/drawn_windows.hpp"

#include <bit>

#include "oracle/case/family.hpp"
#include "properties/studies/sweeps/gradient_noise.hpp"

namespace tally {
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
