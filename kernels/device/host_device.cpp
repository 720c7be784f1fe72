// The host executor's device: the process's own memory, streams that work at once.
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/device/devices.hpp"

namespace tally {
namespace {

void* allocate(std::size_t bytes) {
  void* address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (address == nullptr) throw std::bad_alloc();
  return address;
}

const DeviceFunctions functions{
    .allocate = allocate,
    .release = [](void* address) noexcept { std::free(address); },
    .write = [](void* address, const void* from, std::size_t bytes) { std::memcpy(address, from, bytes); },
    .read = [](const void* address, void* to, std::size_t bytes) { std::memcpy(to, address, bytes); },
    .fill = [](void* address, int byte, std::size_t bytes) { std::memset(address, byte, bytes); },
    .create_stream = []() -> void* { return nullptr; },
    .release_stream = [](void*) noexcept {},
    .synchronize = [](void*) {},
    .create_event = []() -> void* { return nullptr; },
    .release_event = [](void*) noexcept {},
    .record = [](void*, void*) {},
    .wait = [](void*, void*) {},
};

}  // namespace

Device& host_device() {
  static Device one(ExecutorKind::host, "host executor", functions);
  return one;
}

bool built_with_cuda() {
#ifdef TALLY_HAS_CUDA
  return true;
#else
  return false;
#endif
}

Device& device(ExecutorKind kind) {
  if (kind == ExecutorKind::host) return host_device();
#ifdef TALLY_HAS_CUDA
  return cuda_device();
#else
  throw DeviceAbsent("no CUDA device: built without CUDA");
#endif
}

}  // namespace tally
