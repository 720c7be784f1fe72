#include "kernels/device/launch_paths.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kernels/device/kernel_registry.hpp"

namespace tally {
namespace {

constexpr const char* only_way = "its one way";

/// Where this thread's launches stand.
struct Place {
  LaunchScope* scope = nullptr;
  std::set<LaunchPath>* declared = nullptr;
  std::vector<std::string> kernels;  // none: a launcher that is not known
  std::vector<std::string_view> parts, formats;
  bool noted = false;
  std::int64_t most_blocks = 0;

  bool is_listening() const { return declared != nullptr || (scope != nullptr && !kernels.empty()); }
};

Place& place() {
  static thread_local Place mine;
  return mine;
}

std::string joined(const std::vector<std::string_view>& words, const char* between) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : between) + std::string(word);
  return text;
}

std::string named(const RegisteredKernel& kernel) { return kernel.operation + "/" + kernel.claim.variant; }

using Names = std::unordered_map<void (*)(), std::vector<std::string>>;

/// Kernels that ship, by their launcher: one may serve two operations.
const Names& names() {
  static const Names all = [] {
    Names found;
    for (const RegisteredKernel* kernel : registered_kernels())
      if (!kernel->claim.variant.starts_with('~')) found[kernel->run].push_back(named(*kernel));
    return found;
  }();
  return all;
}

LaunchPath path_of(const Place& here, const std::string& kernel, const LaunchWay& way) {
  const std::string parts = joined(here.parts, ", ");
  return {kernel, joined(here.formats, ", "), (parts.empty() ? "" : parts + ": ") + std::string(way.name),
          std::string(way.out_of_reach)};
}

}  // namespace

LaunchScope::LaunchScope() : outer_(place().scope) { place().scope = this; }
LaunchScope::~LaunchScope() { place().scope = outer_; }

GridLimit::GridLimit(std::int64_t most_blocks) : outer_(std::exchange(place().most_blocks, most_blocks)) {}
GridLimit::~GridLimit() { place().most_blocks = outer_; }

LaunchCall::LaunchCall(void (*launcher)()) {
  Place& here = place();
  if (here.scope == nullptr) return;
  const auto found = names().find(launcher);
  if (found == names().end()) return;
  here.kernels = found->second;
  here.noted = false;
}

LaunchCall::~LaunchCall() {
  Place& here = place();
  if (here.scope != nullptr && !here.noted) {
    for (const std::string& kernel : here.kernels) here.scope->paths_.insert({kernel, "", only_way});
  }
  here.kernels.clear();
}

LaunchPart::LaunchPart(std::string_view name) { place().parts.push_back(name); }
LaunchPart::~LaunchPart() { place().parts.pop_back(); }

LaunchFormat::LaunchFormat(Dtype dtype) { place().formats.push_back(name_of(dtype)); }
LaunchFormat::~LaunchFormat() { place().formats.pop_back(); }

bool declaring_paths() { return place().declared != nullptr; }

bool take_way(std::initializer_list<LaunchWay> ways) {
  Place& here = place();
  if (!here.is_listening()) return true;
  here.noted = true;
  for (const LaunchWay& way : ways) {
    if (here.declared == nullptr && !way.taken) continue;
    for (const std::string& kernel : here.kernels)
      (here.declared != nullptr ? *here.declared : here.scope->paths_).insert(path_of(here, kernel, way));
  }
  return here.declared == nullptr;
}

std::int64_t blocks_at_most(std::int64_t usual) {
  const std::int64_t limit = place().most_blocks;
  return limit == 0 ? usual : std::min(usual, limit);
}

std::set<LaunchPath> declared_paths(const RegisteredKernel& kernel) {
  std::set<LaunchPath> declared;
  Place& here = place();
  const Place before = here;
  here = {};
  here.declared = &declared;
  here.kernels = {named(kernel)};
  Stream stream(device(ExecutorKind::host));
  try {
    kernel.declare(kernel.run, stream);
  } catch (...) {
    here = before;
    throw;
  }
  here = before;
  if (declared.empty()) declared.insert({named(kernel), "", only_way});
  return declared;
}

}  // namespace tally
