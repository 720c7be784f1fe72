#include "reports/command_line/verify/plugins.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/device/kernel_files.hpp"
#include "kernels/device/kernel_registry.hpp"
#include "kernels/plugin/plugin.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/text/nearest.hpp"

namespace tally::command_line {
namespace {

std::string listed_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// As its declaration writes it.
std::string type_name(std::type_index type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? name.get() : type.name();
}

/// A registry names a file from its folder `kernels` on.
bool is_of(const Plugin& plugin, const RegisteredKernel& kernel) {
  const std::string file = file_of_kernel(kernel.operation, kernel.claim.variant);
  return std::ranges::any_of(plugin.files, [&](const std::string& own) { return own.ends_with(file); });
}

bool is_tallys_own(const RegisteredKernel& kernel) {
  return std::ranges::none_of(plugins(), [&](const Plugin& plugin) { return is_of(plugin, kernel); });
}

/// One of Tally's own kernels of an operation; nullptr where it has none.
const RegisteredKernel* own_kernel_of(const std::string& operation) {
  for (const RegisteredKernel* kernel : registered_kernels())
    if (kernel->operation == operation && is_tallys_own(*kernel)) return kernel;
  return nullptr;
}

void require_operation(const std::string& place, const std::string& operation) {
  if (own_kernel_of(operation) != nullptr) return;
  std::set<std::string> known;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (is_tallys_own(*kernel)) known.insert(kernel->operation);
  throw UsageError(place + ": no step of a training run is an operation '" + operation + "'; the nearest are " +
                   listed_words(nearest_names(operation, {known.begin(), known.end()}, 3)) +
                   " (`list kernels` names all)");
}

void require_arguments_of_operation(const std::string& place, const RegisteredKernel& kernel) {
  const RegisteredKernel& own = *own_kernel_of(kernel.operation);
  if (own.arguments == kernel.arguments) return;
  throw UsageError(place + ": " + kernel.operation + "=" + kernel.claim.variant + " takes " +
                   type_name(kernel.arguments) + ", expected " + type_name(own.arguments) + " as of " +
                   file_of_kernel(own.operation, own.claim.variant));
}

/// What a plug-in's files hold of an operation, where it is not what was asked for.
std::string registers(const Plugin& plugin) {
  std::set<std::string> found;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (is_of(plugin, *kernel)) found.insert(kernel->operation + "=" + kernel->claim.variant);
  return found.empty() ? "none" : listed_words({found.begin(), found.end()});
}

void require_registered(const Plugin& plugin) {
  const auto all = registered_kernels();
  const auto found = std::ranges::find_if(all, [&](const RegisteredKernel* kernel) {
    return kernel->operation == plugin.operation && kernel->claim.variant == plugin.variant && is_of(plugin, *kernel);
  });
  if (found == all.end())
    throw UsageError(listed_words(plugin.files) + ": found the kernels " + registers(plugin) + ", expected " +
                     plugin.operation + "=" + plugin.variant + ", which " + plugin.place +
                     " asks for: a const RegisterKernel, " + "registered(\"" + plugin.operation + "\", {.variant = \"" +
                     plugin.variant + "\"}, launcher, KernelUse::when_named);");
}

const RegisterRequirement registered(require_plugins);

}  // namespace

void require_plugins() {
  for (const CompiledFile& compiled : compiled_files())
    if (compiled.abi != kernel_abi())
      throw UsageError(compiled.file + ": compiled against the headers of Tally " + compiled.abi +
                       ", this program is of " + kernel_abi() +
                       "; expected one build: cmake --build FOLDER --clean-first");
  for (const Plugin& plugin : plugins()) {
    require_operation(plugin.place, plugin.operation);
    require_registered(plugin);
    for (const RegisteredKernel* kernel : registered_kernels()) {
      if (!is_of(plugin, *kernel)) continue;
      require_operation(plugin.files.front(), kernel->operation);
      require_arguments_of_operation(plugin.files.front(), *kernel);
    }
  }
}

}  // namespace tally::command_line
