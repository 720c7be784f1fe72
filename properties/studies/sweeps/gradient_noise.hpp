// The gradient noise scale tr(Sigma) / |G|^2 (McCandlish et al. 2018, "An Empirical Model of Large-Batch Training",
// appendix A.1), exact over a set of rows and estimated from the micro-batches of one window.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/studies/sweeps/parameter_space.hpp"

namespace tally {

/// tr(Sigma) of one row's gradient, and |G|^2 of their mean.
struct GradientNoise {
  long double trace = 0, squared_norm = 0;
  long double scale() const { return trace / squared_norm; }
};

/// Over all rows, each equally likely: Sigma has the divisor R.
GradientNoise exact_noise(const std::vector<Point>& row_gradients);

/// From the mean gradients of at least two micro-batches of b rows, N rows together:
///   tr(Sigma) ~ (mean |g_b|^2 - |g_N|^2) / (1/b - 1/N),   |G|^2 ~ (N |g_N|^2 - b mean |g_b|^2) / (N - b).
/// Unbiased for rows drawn independently. For rows drawn without replacement from R, the first is unbiased for the
/// covariance with the divisor R - 1, and the second for |G|^2 less that trace / R.
GradientNoise estimated_noise(const std::vector<Point>& micro_batch_gradients, std::int64_t rows);

Point mean_of(const std::vector<Point>& points);
long double squared_norm(const Point& p);

}  // namespace tally
