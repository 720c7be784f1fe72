#include "kernels/plugin/plugin.hpp"

#include <utility>

namespace tally {
namespace {

// Function-local, so that registrations of other files may run before this one's.
std::vector<Plugin>& registered_plugins() {
  static std::vector<Plugin> all;
  return all;
}

std::vector<CompiledFile>& registered_compiled_files() {
  static std::vector<CompiledFile> all;
  return all;
}

}  // namespace

const std::vector<Plugin>& plugins() { return registered_plugins(); }

const std::vector<CompiledFile>& compiled_files() { return registered_compiled_files(); }

RegisterPlugin::RegisterPlugin(Plugin plugin) { registered_plugins().push_back(std::move(plugin)); }

RegisterCompiledFile::RegisterCompiledFile(const char* file, const char* abi) {
  registered_compiled_files().push_back({file, abi});
}

}  // namespace tally
