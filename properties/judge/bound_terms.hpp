// Which bounds are split into terms, which steps a trace shows, and which of its tensors repeat bit for bit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

// What the bounds of the checks that matter are made of.

/// The checks that a record keeps, by index, worst first: five of a list with failures, else the nearest to its limit.
std::vector<std::size_t> worst_of(const std::vector<TensorCheck>& checks);

/// Fills in TensorCheck::terms of the worst and of the first failing check, where a lens made them from this trace and
/// their bound is neither 0 nor infinite. `checks` holds those of the local lens, whatever else. Calls the rules up to
/// those taps again, and judges these alone.
void split_bounds(const Case& c, const Trace& trace, std::vector<TensorCheck>& checks);

// What a right run has not shown: skipped windows, and gradients of no rows.

/// Why a run whose checks pass is vacuous: every gradient that a step took is exactly zero, by the end-to-end lens or as
/// no row of these windows counts; which windows were skipped, and that none counts. Empty where it is not.
std::string dead_steps(const Case& c, const Trace& trace, const std::vector<TensorCheck>& checks);

/// Where every window was skipped: "unscale, clip and the optimizer's step", what the recipe would have done; else empty.
std::string steps_not_taken(const Case& c, const Trace& trace);

// Which tensors of a run repeat bit for bit, by what its kernels claim. A kernel that does not (float atomics) leaves
// other bits in every run, and so does everything computed from them.

class PromisedBits {
 public:
  /// By the claims of the trace, and by what it tapped: a norm that no stage took harms nothing.
  explicit PromisedBits(const Trace& trace);

  /// Whether every kernel between the case's bits and this tensor promises its bits. Errs on the side of no promise:
  /// after the first window's first sum without one, nothing of a later window has any.
  bool of(const TapName& tap) const;
  /// "norm by atomic_add, linear.bias_gradient by atomic_add"; empty where everything is promised.
  const std::string& without() const { return without_; }

 private:
  bool bias_gradients_ = true, backward_ = true, norm_ = true, sums_ = true, others_ = true;
  std::string_view first_of_sums_;  // the first stage that takes a sum over ranks in
  std::string without_;
};

}  // namespace tally
