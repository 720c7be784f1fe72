#include "properties/studies/sweeps/window_drift.hpp"

#include <cmath>
#include <limits>

#include "oracle/window/trajectory.hpp"
#include "properties/compare/expectations.hpp"

namespace tally {
namespace {

/// Against the exact gradient of the accumulated window, without a bound. NaN where the trace has no gradient.
double distance_to_exact(const Case& c, const Trace& trace) {
  const auto before = oracle::initial_state<long double>(c);
  const auto exact = oracle::evaluate_window<long double>(c, 0, oracle::Branch::accumulated, before);
  long double error = 0, size = 0;
  for (const auto& [parameter, gradient] : exact.grad) {
    const Tensor* got = trace.find(TapView{0, -1, "unscale", "d." + parameter});
    if (got == nullptr) return std::numeric_limits<double>::quiet_NaN();
    for (Eigen::Index i = 0; i < gradient.size(); ++i) {
      const long double off = got->value(static_cast<std::size_t>(i)) - gradient.data()[i];
      error += off * off;
    }
    size += gradient.squaredNorm();
  }
  return static_cast<double>(std::sqrt(error / size));
}

}  // namespace

WindowDrift window_drift(const Case& c, const RunOptions& subject) { return window_drift(c, run(c, subject)); }

WindowDrift window_drift(const Case& c, const Trace& trace) {
  const GradientDrift drift = gradient_drift(c, trace, end_to_end_expectations(c, trace));
  if (drift.bound > 0) return {semantic_gap(c), drift.rounding, drift.bound};
  return {semantic_gap(c), distance_to_exact(c, trace), std::numeric_limits<double>::infinity()};
}

}  // namespace tally
