// The kernels of each operation, by device and variant, and the files that they stand in.
#pragma once

#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "kernels/device/launch.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

// Every kernel launcher, by operation, executor and variant, with what it claims. A .cu ends with its registration:
//
//   const RegisterKernel registered("sgd", {.variant = "grid_stride"}, launch_sgd);
//
// It is compiled once for each executor and registers once for each: `compiled_for` says which. Nothing else lists the
// kernels there are: a step asks here for its operation.

/// A launcher by the type of its arguments.
template <class Arguments>
using Kernel = void (*)(Stream& stream, const Arguments& arguments);

/// Whether a run that needs an operation takes a kernel unasked.
enum class KernelUse {
  standard,    // wherever no other variant is named: one variant of an operation at most
  when_named,  // where a case, a stage table or a caller names it; so is every seeded fault's
};

struct RegisteredKernel {
  std::string operation;  // "batch_norm.forward"
  ExecutorKind executor = ExecutorKind::host;
  KernelClaim claim;
  std::type_index arguments = typeid(void);
  void (*run)() = nullptr;  // truly void(*)(Stream&, const Arguments&)
  /// Calls `run` with empty arguments: of use while its ways are declared (kernels/device/launch_paths.hpp).
  void (*declare)(void (*run)(), Stream& stream) = nullptr;
  KernelUse use = KernelUse::standard;
};

/// Throws std::logic_error when operation, executor and variant are taken, and for a second standard variant.
void register_kernel(RegisteredKernel kernel, std::source_location at);

/// All of them, sorted by operation, executor and variant.
std::vector<const RegisteredKernel*> registered_kernels();

/// The variants of one operation that ship, sorted: no seeded fault's, whose name starts with `~`.
std::vector<std::string> shipped_variants(std::string_view operation, ExecutorKind executor);

/// The standard kernel of every operation that has one, by operation.
using StandardKernels = std::map<std::string, const RegisteredKernel*, std::less<>>;
const StandardKernels& standard_kernels(ExecutorKind executor);

/// Throws std::logic_error that says which operation and variant is missing on which executor, and what there is.
[[noreturn]] void throw_missing_kernel(std::string_view operation, ExecutorKind executor,
                                       std::string_view variant = "");

/// An empty variant: the standard one, or the only one that ships. Throws by throw_missing_kernel.
const RegisteredKernel& find_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant = "");

/// Throws std::logic_error when a kernel takes others.
void require_arguments(const RegisteredKernel& kernel, std::type_index arguments);

/// The launcher itself. Throws std::logic_error when it takes other arguments.
template <class Arguments>
Kernel<Arguments> launcher_of(const RegisteredKernel& kernel) {
  require_arguments(kernel, typeid(Arguments));
  return reinterpret_cast<Kernel<Arguments>>(kernel.run);
}
template <class Arguments>
Kernel<Arguments> kernel(std::string_view operation, ExecutorKind executor, std::string_view variant = "") {
  return launcher_of<Arguments>(find_kernel(operation, executor, variant));
}

inline namespace TALLY_SIDE {

struct RegisterKernel {
  template <class Arguments>
  RegisterKernel(std::string_view operation, KernelClaim claim, void (*run)(Stream&, const Arguments&),
                 KernelUse use = KernelUse::standard, std::source_location at = std::source_location::current()) {
    const auto declare = [](void (*launcher)(), Stream& stream) {
      reinterpret_cast<void (*)(Stream&, const Arguments&)>(launcher)(stream, Arguments{});
    };
    register_kernel({std::string(operation), compiled_for, std::move(claim), typeid(Arguments),
                     reinterpret_cast<void (*)()>(run), declare, use},
                    at);
  }
};

}  // namespace TALLY_SIDE

// Which source file registered a kernel: what somebody opens to look at a change.

/// "kernels/window/norm.cu", for the variant of the operation on any executor; empty where none is registered.
std::string file_of_kernel(std::string_view operation, std::string_view variant);

}  // namespace tally
