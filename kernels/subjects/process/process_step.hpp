// A training step in a process of its own, and who may witness its end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/subjects/process/guarded_process.hpp"
#include "kernels/training_step/run/own_step.hpp"

namespace tally {

// Somebody who knows more of a training step's process than how it ended: which of several processes died first, and
// who waited for whom.

class StepWitness {
 public:
  virtual ~StepWitness() = default;
  /// A process is about to begin, the one before it is gone.
  virtual void begin() = 0;
  /// Why it left no trace, while it is still there unless it has `ended`; nullopt: it did not answer within `limit`,
  /// "120 s".
  virtual StepFailed failure(const std::optional<ProcessEnd>& ended, const std::string& limit) const = 0;
};

// A training step in a process of its own, asked line by line (kernels/subjects/process/process.md).

class ProcessStep : public OwnStep {
 public:
  /// `body` answers the lines; `subject` names it in messages. Starts it once and asks whether it speaks the protocol;
  /// throws StepRefused where it does not. A `witness` says why a case has no trace.
  ProcessStep(std::string subject, GuardedProcess::Body body, const StepLimits& limits,
              std::shared_ptr<StepWitness> witness = nullptr);
  ~ProcessStep() override;

  /// The process goes on to the next case as long as it answers; after anything else a new one is started.
  Trace run(const Case& c) const override;

 private:
  struct Exchange;

  std::unique_ptr<GuardedProcess> started() const;
  Trace run_in(Exchange& exchange, const Case& c) const;
  std::string alone(const Case& c, std::uint64_t before) const;

  std::string subject_;
  GuardedProcess::Body body_;
  StepLimits limits_;
  std::shared_ptr<StepWitness> witness_;
  mutable std::unique_ptr<Exchange> exchange_;
};

/// Becomes `/bin/sh -c COMMAND` with the two descriptors as its standard streams.
GuardedProcess::Body command_body(const std::string& command);

}  // namespace tally
