#include "kernels/device/kernel_registry.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "oracle/registered_files.hpp"

namespace tally {
namespace {

using Key = std::tuple<std::string, ExecutorKind, std::string>;

/// Looked up with views: a key of its own text takes memory.
using KeyView = std::tuple<std::string_view, ExecutorKind, std::string_view>;
struct ByView {
  using is_transparent = void;
  bool operator()(const KeyView& a, const KeyView& b) const { return a < b; }
};

std::map<Key, RegisteredKernel, ByView>& registry() {
  static std::map<Key, RegisteredKernel, ByView> all;
  return all;
}

/// As the compiler names them, beside the kernels.
std::vector<std::pair<const RegisteredKernel*, const char*>>& files() {
  static std::vector<std::pair<const RegisteredKernel*, const char*>> all;
  return all;
}

std::map<ExecutorKind, StandardKernels>& standards() {
  static std::map<ExecutorKind, StandardKernels> all;
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

bool is_planted(const KernelClaim& claim) { return claim.variant.starts_with('~'); }

std::string listed(const auto& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// What there is in the place of a kernel that is not: the operation's variants, or else the executor's operations.
std::string offered(std::string_view operation, ExecutorKind executor) {
  if (const auto variants = shipped_variants(operation, executor); !variants.empty())
    return "there " + std::string(variants.size() == 1 ? "is " : "are ") + listed(variants);
  std::set<std::string> operations;
  for (const auto& [key, kernel] : registry())
    if (kernel.executor == executor) operations.insert(kernel.operation);
  return "there are kernels of " + listed(operations);
}

/// The one kernel that a lookup without a variant means; nullptr where nothing says which.
const RegisteredKernel* unnamed(std::string_view operation, ExecutorKind executor) {
  const StandardKernels& standard = standard_kernels(executor);
  if (const auto found = standard.find(operation); found != standard.end()) return found->second;
  const auto variants = shipped_variants(operation, executor);
  return variants.size() == 1 ? &registry().find(KeyView(operation, executor, variants.front()))->second : nullptr;
}

void require_one_standard(const RegisteredKernel& kernel, const std::source_location& at) {
  const StandardKernels& standard = standard_kernels(kernel.executor);
  const auto other = standard.find(kernel.operation);
  if (kernel.use != KernelUse::standard || other == standard.end()) return;
  const std::string& taken = other->second->claim.variant;
  if (taken == kernel.claim.variant) return;  // registered twice
  throw std::logic_error(std::string(at.file_name()) + ": the standard kernel of " + kernel.operation + " is " + taken +
                         " of " + file_of_kernel(kernel.operation, taken) + "; register " + kernel.claim.variant +
                         " with KernelUse::when_named");
}

}  // namespace

void register_kernel(RegisteredKernel kernel, std::source_location at) {
  note_registered(at);
  if (is_planted(kernel.claim)) kernel.use = KernelUse::when_named;
  require_one_standard(kernel, at);
  Key key(kernel.operation, kernel.executor, kernel.claim.variant);
  const auto [place, is_new] = registry().try_emplace(std::move(key), std::move(kernel));
  const RegisteredKernel& placed = place->second;
  if (!is_new)
    throw std::logic_error(std::string(at.file_name()) + ": kernel " +
                           describe(placed.operation, placed.executor, placed.claim.variant) +
                           " is registered twice, first in " + file_of_kernel(placed.operation, placed.claim.variant) +
                           "; expected another variant");
  files().emplace_back(&placed, at.file_name());
  if (placed.use == KernelUse::standard) standards()[placed.executor].emplace(placed.operation, &placed);
}

std::string file_of_kernel(std::string_view operation, std::string_view variant) {
  for (const auto& [kernel, file] : files())  // every executor compiles the same one
    if (kernel->operation == operation && kernel->claim.variant == variant) return from_the_repository(file);
  return "";
}

std::vector<const RegisteredKernel*> registered_kernels() {
  std::vector<const RegisteredKernel*> all;
  for (const auto& [key, kernel] : registry()) all.push_back(&kernel);
  return all;
}

std::vector<std::string> shipped_variants(std::string_view operation, ExecutorKind executor) {
  std::vector<std::string> variants;
  for (auto place = registry().lower_bound(KeyView(operation, executor, "")); place != registry().end(); ++place) {
    const RegisteredKernel& kernel = place->second;
    if (kernel.operation != operation || kernel.executor != executor) break;
    if (!is_planted(kernel.claim)) variants.push_back(kernel.claim.variant);
  }
  return variants;
}

const StandardKernels& standard_kernels(ExecutorKind executor) {
  static const StandardKernels none;
  const auto found = standards().find(executor);
  return found == standards().end() ? none : found->second;
}

void throw_missing_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant) {
  throw std::logic_error("no " + std::string(variant.empty() ? "standard " : "") + "kernel " +
                         describe(operation, executor, variant) + "; " + offered(operation, executor));
}

const RegisteredKernel& find_kernel(std::string_view operation, ExecutorKind executor, std::string_view variant) {
  if (variant.empty()) {
    if (const RegisteredKernel* found = unnamed(operation, executor)) return *found;
  } else if (const auto found = registry().find(KeyView(operation, executor, variant)); found != registry().end()) {
    return found->second;
  }
  throw_missing_kernel(operation, executor, variant);
}

void require_arguments(const RegisteredKernel& kernel, std::type_index arguments) {
  if (kernel.arguments == arguments) return;
  throw std::logic_error("kernel " + describe(kernel.operation, kernel.executor, kernel.claim.variant) + " takes " +
                         kernel.arguments.name() + ", not " + arguments.name());
}

}  // namespace tally
