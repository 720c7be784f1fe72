// The host executors' devices: the process's own memory, streams that work at once or side by side.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/device/checker/shadow.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/plugin/plugin.hpp"

namespace tally {
namespace {

void* allocate(std::size_t bytes) {
  void* address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (address == nullptr) throw std::bad_alloc();
  return address;
}

/// A number of its own, and nothing behind it.
void* create_stream() {
  static std::atomic<std::uintptr_t> streams{0};
  return reinterpret_cast<void*>(++streams);
}

constexpr DeviceFunctions functions_with(void* (*allocate_memory)(std::size_t), void (*release)(void*) noexcept) {
  return {
      .allocate = allocate_memory,
      .release = release,
      .write =
          [](void* address, const void* from, std::size_t bytes) {
            executor::finish_all();
            std::memcpy(address, from, bytes);
          },
      .read =
          [](const void* address, void* to, std::size_t bytes) {
            executor::finish_all();
            std::memcpy(to, address, bytes);
          },
      .fill =
          [](void* address, int byte, std::size_t bytes) {
            executor::finish_all();
            std::memset(address, byte, bytes);
          },
      .fill_on =
          [](void* stream, void* address, int byte, std::size_t bytes) {
            executor::submit(stream, [address, byte, bytes] { std::memset(address, byte, bytes); });
          },
      .create_stream = create_stream,
      .release_stream = [](void*) noexcept {},
      .synchronize = [](void* stream) { executor::finish_stream(stream); },
      .create_event = []() -> void* { return executor::create_event(); },
      .release_event = [](void* event) noexcept { executor::release_event(static_cast<executor::HostEvent*>(event)); },
      .record = [](void* event, void* stream) { executor::record(static_cast<executor::HostEvent*>(event), stream); },
      .wait = [](void* stream, void* event) { executor::wait(stream, static_cast<executor::HostEvent*>(event)); },
      .begin_capture = [](void*) { executor::begin_capture(); },
      .end_capture = [](void*) -> void* { return executor::end_capture(); },
      .launch_captured =
          [](void* captured, void* stream) {
            executor::launch_captured(*static_cast<executor::Captured*>(captured), stream);
          },
      .release_captured =
          [](void* captured) noexcept { executor::release_captured(static_cast<executor::Captured*>(captured)); },
  };
}

const DeviceFunctions functions = functions_with(allocate, [](void* address) noexcept { std::free(address); });
const DeviceFunctions checked_functions = functions_with(checker::allocate, checker::release);

}  // namespace

Device& host_device() {
  static Device one(ExecutorKind::host, "host executor", functions);
  return one;
}

Device& checked_device() {
  static Device one(ExecutorKind::checked, "checked host executor", checked_functions);
  return one;
}

bool built_with_checks() {
#ifdef TALLY_HAS_CHECKED
  return std::ranges::all_of(plugins(), &Plugin::checked);
#else
  return false;
#endif
}

bool built_with_cuda() {
#ifdef TALLY_HAS_CUDA
  return std::ranges::all_of(plugins(), &Plugin::cuda);
#else
  return false;
#endif
}

std::vector<ExecutorKind> executors_built() {
  std::vector<ExecutorKind> all{ExecutorKind::host};
  if (built_with_checks()) all.push_back(ExecutorKind::checked);
  if (built_with_cuda()) all.push_back(ExecutorKind::cuda);
  return all;
}

Device& device(ExecutorKind kind) {
  if (kind == ExecutorKind::host) return host_device();
  if (kind == ExecutorKind::checked) {
    if (built_with_checks()) return checked_device();
    throw DeviceAbsent("no checked executor: built without clang++-16 (Debian package clang-16)");
  }
#ifdef TALLY_HAS_CUDA
  if (built_with_cuda()) return cuda_device();
#endif
  throw DeviceAbsent("no CUDA device: built without CUDA");
}

}  // namespace tally
