#include "kernels/device/kernel_registry.hpp"

#include <map>
#include <stdexcept>
#include <tuple>

#include "kernels/device/kernel_file.hpp"
#include "oracle/registered_files.hpp"

namespace tally {
namespace {

using Key = std::tuple<std::string, ExecutorKind, std::string>;

std::map<Key, RegisteredKernel>& registry() {
  static std::map<Key, RegisteredKernel> all;
  return all;
}

std::map<Key, std::string>& files() {
  static std::map<Key, std::string> all;
  return all;
}

/// From the project's folder on: kernels stand in `kernels`, seeded faults in `properties`.
std::string from_the_project(const std::string& file) {
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
  const Key key(kernel.operation, kernel.executor, kernel.claim.variant);
  const std::string words = describe(kernel.operation, kernel.executor, kernel.claim.variant);
  files()[key] = from_the_project(at.file_name());
  if (!registry().emplace(key, std::move(kernel)).second) {
    throw std::logic_error(std::string(at.file_name()) + ": kernel " + words + " is registered twice");
  }
}

std::string kernel_file(std::string_view operation, ExecutorKind executor, std::string_view variant) {
  const auto found = files().find(Key(operation, executor, variant));
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
