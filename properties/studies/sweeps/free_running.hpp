// One training run beside its exact trajectory, and beside itself: every window's stages on the bits they really read.
#pragma once

#include <cstdint>

#include "properties/laws/law.hpp"
#include "properties/studies/jobs.hpp"

namespace tally {

/// The digits, 64-32-10 with layer_norm, K = 4, its first `windows` windows of 64 rows; linear weights drawn from
/// `seed`. Every storage format holds the same case, so all share one exact trajectory.
Case steps_case(Dtype storage, std::size_t windows, std::uint64_t seed);

/// One entry a window.
struct FreeRun {
  std::vector<double> drift;     // ‖subject - exact‖ / ‖exact‖ of the parameters after it
  std::vector<double> distance;  // the same, relative to how far the exact parameters have moved from the first
  std::vector<double> local;     // worst r of its stages, each on the subject's own input bits
  double failing = 0;            // checks of the local lens, over all windows
  double skipped = 0;            // windows

  Numbers numbers() const;
  static FreeRun of(const Numbers& numbers);
};

FreeRun free_run(const Case& c, const RunOptions& subject);

}  // namespace tally
