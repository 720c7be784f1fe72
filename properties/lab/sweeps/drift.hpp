// What the sweeps of drift share: training problems, the drift of a window, of a stage and of a free run, the gap that
// norms open. Defined in drift.cpp, free_running.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "properties/lab/study.hpp"
#include "properties/lab/sweeps/exact_problem.hpp"
#include "properties/laws/law.hpp"
#include "reports/record/record.hpp"
#include "reports/record/study.hpp"

namespace tally {

// What a sweep demands of its own numbers.

/// Fails the study unless `holds`; the first sentence stays.
inline void demand(Study& study, bool holds, std::string sentence) {
  if (holds || study.status == Status::fail) return;
  study.status = Status::fail;
  study.message = std::move(sentence);
}

// The training problems that the sweeps run: the same numbers in every storage format.

struct SweepProblem {
  std::string name;  // "relu, cross_entropy"
  std::vector<Layer> hidden;
  Choice loss;
  std::int64_t input = 16, outputs = 10;
  Choice loss_scale;
  double magnitude = 1;  // a power of two that multiplies x, real targets and biases
};

/// 16-32-10 with relu, with layer_norm and gelu, with micro_batch batch_norm, and with tanh under mse.
const std::vector<SweepProblem>& sweep_problems();

/// tanh under mse with everything but the weights around 2^-8: gradients that fp16 holds badly without a loss scale.
SweepProblem small_signals();

/// One window of `rows` rows in `micro_batches` equal parts. Inputs and real targets have at most eight significant
/// bits and no magnitude between 0 and 2^-14, so that all storage formats hold the very same case; parameters are fp32.
Case sweep_case(const SweepProblem& problem, Dtype storage, std::int64_t rows, std::int64_t micro_batches,
                std::uint64_t seed);

/// The number in the middle; the mean of the two in the middle of an even number of them. NaN for none.
double median(std::vector<double> values);

// How far one run's first window gradient is from the exact one, split as every drift is.

/// Relative 2-norms over the gradient of all parameters. The bound is infinite where the end-to-end lens has none (a
/// divisor or a decision that its intervals leave open); then the exact gradient is that of the exact decisions. The
/// rounding drift is NaN where the window was skipped.
struct WindowDrift {
  double semantic_gap = 0;  // exact accumulated - exact full batch
  double rounding = 0;      // subject - exact accumulated
  double bound = 0;         // of the rounding drift

  Numbers numbers() const { return {semantic_gap, rounding, bound}; }
  static WindowDrift of(const Numbers& numbers) { return {numbers.at(0), numbers.at(1), numbers.at(2)}; }
  /// NaN is not.
  bool within_bound() const { return rounding <= bound; }
};

/// Runs the case; throws as run() does.
WindowDrift window_drift(const Case& c, const RunOptions& subject);
WindowDrift window_drift(const Case& c, const Trace& trace);

// What each stage of a run adds by its own rounding, on its own input bits.

struct StageRounding {
  double worst_ratio = 0;     // r = error / bound of the worst element
  double ulps = 0;            // error of that element, in units in the last place of its format
  double relative_error = 0;  // ‖error‖₂ / ‖exact‖₂ of the stage's worst tensor
};

/// The stages that compute, in the order a window passes them.
const std::vector<std::string>& rounding_stages();

/// By stage. From the local lens; for the stages that it predicts bit by bit (cast, accumulate, unscale) the rounding
/// of that one operation, measured from the inputs that the trace holds, with r = error / (half an ulp). Checks that
/// are vacuous or without a signal are left out.
std::map<std::string, StageRounding> stage_roundings(const Trace& trace, const std::vector<TensorCheck>& local);

/// |error| in units in the last place of `value` in a float format; subnormals have the least one.
double in_ulps(double error, double value, Dtype format);

// What cutting a batch into micro-batches does to a network with a norm: the exact gap, and a subject's rounding.

/// The norms of the sweep: BatchNorm by its statistics ("micro_batch", "window", "frozen"), or "layer_norm".
const std::vector<std::string>& sweep_norms();
/// Linear 16, the norm, tanh.
std::vector<Layer> layers_with(const std::string& norm);

/// Accumulated against full batch in the first window, both exact (long double, nothing rounded to 0): the 2-norm of
/// the difference relative to the full batch's. 0 for running values where there are none.
struct NormGap {
  double gradient = 0, running_mean = 0, running_var = 0;
};
NormGap norm_gap(const Case& c);

/// The gap of the running values when the micro-batches' momentum is 1 - (1 - momentum)^(1/K), so that K updates move
/// as far as one of the full batch.
NormGap norm_gap_with_shared_momentum(const Case& c);

/// A subject's distance to the exact accumulated gradient and the bound of it, relative as above.
struct NormDrift {
  double rounding = 0, bound = 0;
};
NormDrift norm_drift(const Case& c, const RunOptions& subject);

// One training run beside its exact trajectory, and beside itself: every window's stages on the bits they really read.

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
