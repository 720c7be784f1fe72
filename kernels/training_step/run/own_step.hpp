// A training step that is not Tally's own, in the place of all stages: a library or a program of a user's
// (kernels/subjects). It is asked for the trace of a case and for nothing else.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/training_step/run/run.hpp"

namespace tally {

class OwnStep {
 public:
  virtual ~OwnStep() = default;
  /// Throws NotSupported for a case that the step declines, StepFailed for what it did in place of leaving a trace.
  virtual Trace run(const Case& c) const = 0;
};

/// What NotSupported begins with where the step declines; its reason follows.
inline constexpr const char* declined_case = "this subject declines the case: ";

/// What a step did in place of leaving a trace: "it was ended by signal 11 (Segmentation fault)".
class StepFailed : public std::runtime_error {
 public:
  enum class Why {
    wrong,         // what it handed over or said
    died,          // by itself
    from_outside,  // ended by a signal that no program sends itself
    too_slow,
    hung  // some of its processes waited for another in vain
  };
  explicit StepFailed(const std::string& what, Why why = Why::wrong) : std::runtime_error(what), why_(why) {}
  Why why() const { return why_; }

 private:
  Why why_;
};

/// nullptr: Tally's own stages run, or a fault's.
const OwnStep* own_step(const RunOptions& options);

/// Throws NotSupported where the subject is a step of its own: `what` looks at Tally's kernels.
void require_tallys_kernels(const RunOptions& options, const std::string& what);

/// How many runs of such steps this thread has asked for.
std::uint64_t own_runs();

/// A step's run, held to what such a subject can be asked for.
Trace run_own(const OwnStep& step, const Case& c, const RunOptions& options);

}  // namespace tally
