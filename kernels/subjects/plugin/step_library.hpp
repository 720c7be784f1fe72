// A shared library that exports a training step (subject.h).
#pragma once

#include <memory>
#include <string>

#include "kernels/subjects/plugin/subject.h"

namespace tally {

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

}  // namespace tally
