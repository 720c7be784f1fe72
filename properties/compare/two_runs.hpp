// Two runs of one subject, accumulated and full batch, each against what its own decisions lead to.
#pragma once

#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "reports/record/record.hpp"

namespace tally {

struct TwoRuns {
  /// Lens "relation": of every window's unscaled gradients and new parameters |A - F - (v_A - v_F)| <= e_A + e_F. They
  /// end, vacuous, where one run skipped a window and the other did not; whether each was free to, its own lenses say.
  std::vector<TensorCheck> checks;
  /// ||(v_A - v_F) - (accumulated - full batch)||_2 / ||full batch||_2 of the first window's gradient, all of it exact:
  /// what other masks in the two runs come to. No rounding in it but that which chose a branch. Below 2^-50: 0.
  double decision_drift = 0;
};

/// The runs of a case and of its full batch (full_batch_of).
TwoRuns compare_runs(const Case& accumulated, const Trace& a, const Case& full_batch, const Trace& f);

}  // namespace tally
