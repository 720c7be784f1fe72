// Every kernel launcher, by operation, executor and variant, with what it claims. A .cu ends with its registration:
//
//   const RegisterKernel registered("sgd", {.variant = "grid_stride"}, launch_sgd);
//
// It is compiled once for each executor and registers once for each: `compiled_for` says which.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "kernels/device/launch.hpp"
#include "oracle/layers/claim.hpp"

namespace tally {

struct RegisteredKernel {
  std::string operation;  // "batch_norm.forward"
  ExecutorKind executor = ExecutorKind::host;
  KernelClaim claim;
  std::type_index arguments = typeid(void);
  void (*run)() = nullptr;  // truly void(*)(Stream&, const Arguments&)
  /// Calls `run` with empty arguments: of use while its ways are declared (kernels/device/launch_paths.hpp).
  void (*declare)(void (*run)(), Stream& stream) = nullptr;
};

/// Throws std::logic_error when operation, executor and variant are taken.
void register_kernel(RegisteredKernel kernel, std::source_location at);

/// All of them, sorted by operation, executor and variant.
std::vector<const RegisteredKernel*> registered_kernels();

/// The variants of one operation that ship, sorted: no seeded fault's, whose name starts with `~`.
std::vector<std::string> shipped_variants(std::string_view operation, ExecutorKind executor);

/// An empty variant: the only one, or the first by name; never a seeded fault's, whose name starts with `~`. Throws
/// std::logic_error naming what is missing.
const RegisteredKernel& find_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant = "");
const RegisteredKernel& find_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant,
                                    std::type_index arguments);

/// The launcher itself, as void(*)(Stream&, const Arguments&). Also throws std::logic_error when it takes others.
template <class Arguments>
auto kernel(std::string_view operation, ExecutorKind executor, std::string_view variant = "") {
  const RegisteredKernel& found = find_kernel(operation, executor, variant, typeid(Arguments));
  return reinterpret_cast<void (*)(Stream&, const Arguments&)>(found.run);
}

inline namespace TALLY_SIDE {

struct RegisterKernel {
  template <class Arguments>
  RegisterKernel(std::string_view operation, KernelClaim claim, void (*run)(Stream&, const Arguments&),
                 std::source_location at = std::source_location::current()) {
    const auto declare = [](void (*launcher)(), Stream& stream) {
      reinterpret_cast<void (*)(Stream&, const Arguments&)>(launcher)(stream, Arguments{});
    };
    register_kernel({std::string(operation), compiled_for, std::move(claim), typeid(Arguments),
                     reinterpret_cast<void (*)()>(run), declare},
                    at);
  }
};

}  // namespace TALLY_SIDE
}  // namespace tally
