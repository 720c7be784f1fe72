// The kernels of one run: the standard one of every operation, and each that is named, by operation. Looked up in the
// registry once, when the run is built; a step then asks by operation.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/device/kernel_registry.hpp"

namespace tally {

class ChosenKernels {
 public:
  /// `named`: operation -> variant. Throws std::logic_error for one that no file registered.
  ChosenKernels(ExecutorKind executor, const std::map<std::string, std::string>& named);

  /// False for an operation that runs only where it is named, as a fused pass is, and was not.
  bool has(std::string_view operation) const { return kernels_.contains(operation); }
  /// The launcher of an operation. Throws std::logic_error where the run has none, which says what there is, and where
  /// it takes other arguments.
  template <class Arguments>
  Kernel<Arguments> of(std::string_view operation) const {
    return launcher_of<Arguments>(registered(operation));
  }
  const KernelClaim& claim(std::string_view operation) const { return registered(operation).claim; }
  /// What each of them promises, by operation.
  std::map<std::string, KernelClaim> claims() const;

 private:
  const RegisteredKernel& registered(std::string_view operation) const;

  ExecutorKind executor_;
  StandardKernels kernels_;
};

}  // namespace tally
