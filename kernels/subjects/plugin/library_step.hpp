// A shared library that exports a training step, as a subject.
#pragma once

#include <memory>
#include <string>

#include "kernels/subjects/plugin/subject.h"
#include "kernels/subjects/process/guarded_process.hpp"
#include "kernels/training_step/run/own_step.hpp"

namespace tally {

// A shared library that exports a training step (subject.h).

class StepLibrary {
 public:
  /// Opens it, which runs code of the library's. Throws StepRefused: no file, no library, one for another machine, no
  /// entry, another version of the interface, claims that say nothing known.
  explicit StepLibrary(const std::string& path);

  const tally_step& step() const { return *step_; }
  std::string name() const;

 private:
  std::shared_ptr<void> handle_;
  const tally_step* step_ = nullptr;
};

// A library's training step as a subject: in this process, or answering the lines of one of its own.

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
