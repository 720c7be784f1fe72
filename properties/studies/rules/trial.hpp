// One trial: a case run clean and, where there is a fault, faulty, and what every judge said of the runs.
#pragma once

#include <string>
#include <vector>

#include "kernels/training_step/run.hpp"
#include "properties/faults/fault.hpp"
#include "properties/laws/law.hpp"

namespace tally {

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

}  // namespace tally
