#include "kernels/training_step/chosen_kernels.hpp"

namespace tally {

ChosenKernels::ChosenKernels(ExecutorKind executor, const std::map<std::string, std::string>& named)
    : executor_(executor), kernels_(standard_kernels(executor)) {
  for (const auto& [operation, variant] : named) kernels_[operation] = &find_kernel(operation, executor, variant);
}

const RegisteredKernel& ChosenKernels::registered(std::string_view operation) const {
  const auto found = kernels_.find(operation);
  if (found == kernels_.end()) throw_missing_kernel(operation, executor_);
  return *found->second;
}

std::map<std::string, KernelClaim> ChosenKernels::claims() const {
  std::map<std::string, KernelClaim> all;
  for (const auto& [operation, kernel] : kernels_) all.emplace_hint(all.end(), operation, kernel->claim);
  return all;
}

}  // namespace tally
