#include "kernels/device/kernel_registry.hpp"

#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/device/kernel_files.hpp"
#include "oracle/registered_files.hpp"

namespace tally {
namespace {

using Key = std::tuple<std::string, ExecutorKind, std::string>;

std::map<Key, RegisteredKernel>& registry() {
  static std::map<Key, RegisteredKernel> all;
  return all;
}

/// By operation and variant: every executor compiles the same file.
std::map<std::pair<std::string, std::string>, std::string>& files() {
  static std::map<std::pair<std::string, std::string>, std::string> all;
  return all;
}

/// Compilers name a file in full, or from the folder of the build: from the folder of the kernels on, or of the seeded
/// faults.
std::string from_the_repository(const std::string& file) {
  for (const char* folder : {"/kernels/", "/properties/"}) {
    if (const auto at = file.rfind(folder); at != std::string::npos) return file.substr(at + 1);
  }
  return file;
}

std::string describe(std::string_view operation, ExecutorKind executor, std::string_view variant) {
  return std::string(operation) + (variant.empty() ? "" : "/" + std::string(variant)) + " on " +
         std::string(name_of(executor));
}

}  // namespace

void register_kernel(RegisteredKernel kernel, std::source_location at) {
  note_registered(at);
  files()[{kernel.operation, kernel.claim.variant}] = from_the_repository(at.file_name());
  const Key key(kernel.operation, kernel.executor, kernel.claim.variant);
  const std::string words = describe(kernel.operation, kernel.executor, kernel.claim.variant);
  if (!registry().emplace(key, std::move(kernel)).second) {
    throw std::logic_error(std::string(at.file_name()) + ": kernel " + words + " is registered twice");
  }
}

std::string file_of_kernel(std::string_view operation, std::string_view variant) {
  const auto found = files().find({std::string(operation), std::string(variant)});
  return found == files().end() ? "" : found->second;
}

std::vector<const RegisteredKernel*> registered_kernels() {
  std::vector<const RegisteredKernel*> all;
  for (const auto& [key, kernel] : registry()) all.push_back(&kernel);
  return all;
}

std::vector<std::string> shipped_variants(std::string_view operation, ExecutorKind executor) {
  std::vector<std::string> variants;
  for (const auto& [key, kernel] : registry()) {
    const bool asked = kernel.operation == operation && kernel.executor == executor;
    if (asked && !kernel.claim.variant.starts_with('~')) variants.push_back(kernel.claim.variant);
  }
  return variants;
}

const RegisteredKernel& find_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant) {
  const auto found = registry().lower_bound(Key(operation, executor, variant));
  if (found != registry().end()) {
    const RegisteredKernel& kernel = found->second;
    const bool named = variant.empty() ? !kernel.claim.variant.starts_with('~') : kernel.claim.variant == variant;
    if (kernel.operation == operation && kernel.executor == executor && named) return kernel;
  }
  throw std::logic_error("no kernel " + describe(operation, executor, variant) + " is registered");
}

const RegisteredKernel& find_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant,
                                    std::type_index arguments) {
  const RegisteredKernel& found = find_kernel(operation, executor, variant);
  if (found.arguments == arguments) return found;
  throw std::logic_error("kernel " + describe(operation, executor, variant) + " takes " + found.arguments.name() +
                         ", not " + arguments.name());
}

}  // namespace tally
