// One trial of the study: a case drawn, made smaller in its gradients, run clean and faulty, and what every judge said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/trace/trace.hpp"
#include "kernels/training_step/run/run.hpp"
#include "oracle/case/case.hpp"
#include "properties/faults/fault.hpp"
#include "properties/generators/plan.hpp"
#include "properties/laws/law.hpp"

namespace tally {

// The same case with smaller gradients: the lever of the study of published rules.

/// Whether with_gradient_times() scales every gradient of the plan's cases alike.
bool gradient_can_shrink(const Plan& plan);

/// The case with gradients about 2^exponent (<= 0) times as large, through its loss, as late in a training run:
///   cross_entropy  every row that counts belongs to class 0, label smoothing off, and the last bias of class 0 is
///   raised
///                  by log((classes - 1) / 2^exponent): the model is right, and as sure as that;
///   mse            last layer and targets times 2^exponent, so that the residuals are, and a dynamic loss scale
///   divided
///                  by it, so that what overflows on purpose still does.
/// 0 changes nothing.
Case with_gradient_times(Case c, int exponent);

/// Root of the mean square of the first unscaled gradient in a trace; 0 where no window took its step.
double gradient_size(const Case& c, const Trace& trace);

// One trial: a case run clean and, where there is a fault, faulty, and what every judge said of the runs.

/// Tally's three: both lenses with the law, and each lens alone; then the published rules by name, those that are not
/// made for every format last.
const std::vector<std::string>& judges();
inline constexpr std::size_t judges_of_tally = 3;

/// A judge's answers: '1' it rejected, '0' it accepted, '-' it was not asked.
using Answers = std::string;

struct TrialSetting {
  const Fault* fault = nullptr;  // nullptr: clean only
  Dtype storage = Dtype::fp32;
  int exponent = 0;  // gradients are about 2^exponent of what was drawn
};

struct Trial {
  bool shown = false;  // the fault changed a tap, or broke a rule of the machine
  double gradient = 0;
  Answers clean;                     // a rejection is a false alarm
  Answers own;                       // the faulty run against a full batch with the fault in it
  Answers trusted;                   // the faulty run against a full batch without it
  Answers first_clean, first_own;    // of one who looks at the first window's gradients alone
  std::string law, missed, alarmed;  // why Tally missed the fault or accused the clean run; empty when it did not
};

/// Runs the case; `law` judges for Tally. `subject` is the clean one.
Trial run_trial(const TrialSetting& setting, const Case& c, const Law& law, const RunOptions& subject);

/// Whether the fault makes a difference on this case: a tap's bits, or a rule of the machine broken.
bool shows(const Fault& fault, const Case& c, const RunOptions& subject);

/// One line, and back.
std::string text_of(const Trial& trial);
Trial trial_of(const std::string& line);

// Draws the cases of the study: accumulation that equals the full batch, in the shape of a fault's own laws.

struct DrawnCase {
  Case c;
  const Law* law = nullptr;  // whose shape the case has
};

/// The case number `index` on which the setting's fault shows, in the shape of the first of its laws that has one;
/// nullopt when it shows on none of a fixed number of draws. Without a fault the first case drawn, in the shape of
/// partition_equals_full_batch. Every case divides by the window's items, has no micro-batch statistics and cuts every
/// window, so that the full batch is its equal.
std::optional<DrawnCase> drawn_case(const TrialSetting& setting, int index, std::uint64_t seed,
                                    const RunOptions& subject);

}  // namespace tally
