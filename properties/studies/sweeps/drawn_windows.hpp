// Windows of rows drawn with replacement, for the noise of their gradients. The rows at hand are then the whole
// population: tr(Sigma) over them is the truth, and |g_N - G|^2 has the mean tr(Sigma) / N without a correction.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "properties/studies/sweeps/parameter_space.hpp"

namespace tally {

struct DrawnWindows {
  const std::vector<Point>& row_gradients;
  std::uint64_t seed = 1, count = 100;
};

/// One estimate a window, by rows of a micro-batch: 1, 2, 4, ... below the window's rows (a power of two). All sizes
/// see the same windows.
struct NoiseEstimates {
  std::vector<double> traces, squared_norms;
};
std::map<std::int64_t, NoiseEstimates> noise_estimates(const DrawnWindows& windows, std::int64_t window_rows);

/// |g_N - G|^2 of every window, by N = 1, 2, 4, ... up to `largest`.
std::map<std::int64_t, std::vector<double>> squared_deviations(const DrawnWindows& windows, std::int64_t largest);

}  // namespace tally
