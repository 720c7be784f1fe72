// A library's training step as a subject: in this process, or answering the lines of one of its own.
#pragma once

#include <string>

#include "kernels/subjects/plugin/step_library.hpp"
#include "kernels/subjects/process/guarded_process.hpp"
#include "kernels/training_step/own_step.hpp"

namespace tally {

/// In this process: as fast as can be, and whatever the library does to its process it does to this one.
class LibraryStep : public OwnStep {
 public:
  /// Throws StepRefused.
  explicit LibraryStep(const std::string& path) : library_(path) {}
  Trace run(const Case& c) const override;

 private:
  StepLibrary library_;
};

/// For a ProcessStep: opens the library there and answers.
GuardedProcess::Body library_body(const std::string& path);

}  // namespace tally
