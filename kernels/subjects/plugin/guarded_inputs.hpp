// The tensors that a library may read and not write, in memory that shows what was written all the same.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/subjects/plugin/subject.h"
#include "oracle/case/tensor.hpp"

namespace tally {

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

}  // namespace tally
