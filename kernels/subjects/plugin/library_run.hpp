// One case through a library's training step, on inputs that show what was written to them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/subjects/plugin/subject.h"
#include "kernels/trace/trace.hpp"
#include "oracle/case/case.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

// The tensors that a library may read and not write, in memory that shows what was written all the same.

class GuardedInputs {
 public:
  /// Copies of these, between zones of bytes 0xff (NaN as floats). They must outlive this object.
  explicit GuardedInputs(const std::map<std::string, Tensor>& tensors);

  /// In the order of their names.
  const std::vector<tally_tensor>& tensors() const { return tensors_; }
  const tally_tensor* find(const char* name) const;
  /// What was written that is not to be; empty: nothing.
  std::string damage() const;

 private:
  const std::map<std::string, Tensor>& originals_;
  std::vector<std::byte> memory_;
  std::vector<tally_tensor> tensors_;
};

/// The trace of what it handed over. Throws NotSupported where it declines, StepFailed where it fails, or hands over
/// what no case has. `text`: write_case_beside_tensors(c); `hash`: hash_of(c).
Trace run_library(const tally_step& step, const Case& c, const std::string& text, const std::string& hash);

}  // namespace tally
