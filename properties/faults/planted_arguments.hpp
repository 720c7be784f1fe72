// A shipped kernel called with other arguments than it was given, as its own variant on every executor.
#pragma once

#include <source_location>
#include <string>

#include "kernels/device/kernel_registry.hpp"
#include "properties/faults/seeded.hpp"

namespace tally {

namespace planted {
template <class Arguments>
Arguments arguments_of(void (*)(Stream&, Arguments, Kernel<Arguments>));
}

/// The shipped stages with `operation` run by `Around`, which gets the arguments and the shipped kernel. The variant
/// is named after the fault and keeps the shipped kernel's claims.
template <auto Around>
Stages with_kernel_around(const std::string& operation, const std::string& shipped, const std::string& fault,
                          std::source_location at = std::source_location::current()) {
  using Arguments = decltype(planted::arguments_of(Around));
  static std::string operation_run, variant_run;  // of this instantiation: one fault
  operation_run = operation;
  variant_run = shipped;
  void (*const launch)(Stream&, const Arguments&) = [](Stream& stream, const Arguments& arguments) {
    Around(stream, arguments, kernel<Arguments>(operation_run, stream.device().kind(), variant_run));
  };
  for (const ExecutorKind executor : executors_built()) {
    KernelClaim claim = find_kernel(operation, executor, shipped).claim;
    claim.variant = "~" + fault;
    register_kernel({operation, executor, std::move(claim), typeid(Arguments), reinterpret_cast<void (*)()>(launch)},
                    at);
  }
  return with_kernel(operation, fault);
}

}  // namespace tally
