// How far the first window's gradient is from the exact one, as the end-to-end lens found it.
#pragma once

#include <optional>
#include <vector>

#include "reports/record/record.hpp"

namespace tally {

/// Relative 2-norms over all parameters, after unscaling.
struct CapturedDrift {
  double rounding = 0;  // |subject - exact| / |exact|
  double bound = 0;     // of that
};

/// Nothing where no such gradient was judged, or all of it is exactly zero.
std::optional<CapturedDrift> first_gradient_drift(const std::vector<TensorCheck>& checks);

}  // namespace tally
