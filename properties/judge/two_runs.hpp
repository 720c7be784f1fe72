// Two runs held against each other by what is expected of each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/tolerance/expected.hpp"
#include "reports/record/record.hpp"

namespace tally {

// Two runs of one subject, accumulated and full batch, each against what its own decisions lead to.

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

// What the end-to-end lens expects of a run, for laws that compare two runs and for the drift figures of a report.

/// (v, e) of every tap that the end-to-end lens holds, by tap name.
std::map<std::string, oracle::Expected> end_to_end_expectations(const Case& c, const Trace& trace);

/// Two runs A and F of a subject: |A - F - (v_A - v_F)| <= e_A + e_F, each v with its own decisions. Lens "relation";
/// vacuous where the bounds together exceed the larger value.
TensorCheck relation_check(const std::string& tap, const std::string& stage, const oracle::Expected& expected_a,
                           const Tensor& a, const oracle::Expected& expected_f, const Tensor& f);

/// Two lengths in the first window's unscaled gradient, all parameters together, relative to ||v||_2: the subject's
/// distance to the exact gradient, and the bound's length. 0 where that window was skipped.
struct GradientDrift {
  double rounding = 0, bound = 0;
};
GradientDrift gradient_drift(const Case& c, const Trace& trace,
                             const std::map<std::string, oracle::Expected>& expectations);

/// ||accumulated - full batch||_2 / ||full batch||_2 of the first window's gradient, both exact (long double). What is
/// below 2^-50 is the evaluation's own rounding: 0.
double semantic_gap(const Case& c);

// How far the first window's gradient is from the exact one, as the end-to-end lens found it.

/// Relative 2-norms over all parameters, after unscaling.
struct CapturedDrift {
  double rounding = 0;  // |subject - exact| / |exact|
  double bound = 0;     // of that
};

/// Nothing where no such gradient was judged, or all of it is exactly zero.
std::optional<CapturedDrift> first_gradient_drift(const std::vector<TensorCheck>& checks);

}  // namespace tally
