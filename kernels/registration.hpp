// A kernel's registration record and its typed form: what a kernel file ends with, and what a run calls.
#pragma once

#include <source_location>
#include <string>

#include "kernels/device/device.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

/// A registered kernel of one operation, ready to be called.
template <class Arguments>
struct Kernel {
  void (*launch)(Stream& stream, const Arguments& arguments) = nullptr;
  const KernelClaim* claim = nullptr;
  void operator()(Stream& stream, const Arguments& arguments) const { launch(stream, arguments); }
};

/// Registers a kernel at program start, for the executor that this file is compiled for.
struct RegisterKernel {
  template <class Arguments>
  RegisterKernel(const char* operation, KernelClaim claim, void (*launch)(Stream&, const Arguments&),
                 std::source_location at = std::source_location::current()) {
    register_kernel(operation, claim, reinterpret_cast<void (*)()>(launch), at);
  }
};

/// The kernel of `operation`; an empty variant means the shipped one. Throws std::logic_error when there is none.
template <class Arguments>
Kernel<Arguments> kernel_of(ExecutorKind executor, const char* operation, const std::string& variant) {
  const RegisteredKernel& found = find_kernel(executor, operation, variant);
  return {reinterpret_cast<void (*)(Stream&, const Arguments&)>(found.launch), &found.claim};
}

}  // namespace tally
