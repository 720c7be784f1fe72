#include "kernels/device/device.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/device/checker/memory.hpp"
#include "kernels/device/executor/captured.hpp"
#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/device/guard_zone.hpp"
#include "kernels/device/memory_account.hpp"

namespace tally {

std::string_view name_of(ExecutorKind kind) {
  return kind == ExecutorKind::host ? "host" : kind == ExecutorKind::cuda ? "cuda" : "checked";
}

CudaError::CudaError(const std::string& what, std::source_location at)
    : std::runtime_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " + what) {}

struct Device::Allocations {
  struct Block {
    std::string name;
    std::size_t bytes;
    std::uint64_t number;
  };
  std::mutex mutex;
  std::map<std::byte*, Block> live;  // by the buffer's address
  std::string damage;                // of released buffers
  std::uint64_t taken = 0;
};

Device::Device(ExecutorKind kind, std::string name, const DeviceFunctions& functions)
    : kind_(kind), name_(std::move(name)), functions_(&functions), allocations_(new Allocations) {}

Device::~Device() { delete allocations_; }

void* Device::allocate(std::size_t bytes, std::string name) {
  constexpr int poison = 0xff;
  auto* base = static_cast<std::byte*>(functions_->allocate(bytes + 2 * guard_bytes));
  std::byte* data = base + guard_bytes;
  const std::lock_guard lock(allocations_->mutex);
  const std::uint64_t number = ++allocations_->taken;
  try {
    write_guards(*this, data, bytes, number);
    fill(data, poison, bytes);
  } catch (...) {  // work is captured: nobody may write
    functions_->release(base);
    throw;
  }
  MemoryAccount::note_taken(*this, data, name, bytes);
  if (kind_ == ExecutorKind::checked) checker::note_buffer(data, bytes, name);
  allocations_->live.emplace(data, Allocations::Block{std::move(name), bytes, number});
  return data;
}

void Device::release(void* address) noexcept {
  if (address == nullptr) return;
  executor::finish_all_quietly();
  try {
    MemoryAccount::note_released(*this, address);
    const std::lock_guard lock(allocations_->mutex);
    const auto found = allocations_->live.extract(static_cast<std::byte*>(address));  // gone, whatever its guards say
    if (!found.empty()) {
      const Allocations::Block& block = found.mapped();
      allocations_->damage += guard_damage(*this, found.key(), block.bytes, block.number, block.name);
    }
  } catch (const executor::WaitsWhileCaptured&) {  // inside a capture nobody may look
  } catch (const std::exception& error) {          // a failing device: the next call on it says so
    allocations_->damage += std::string("guard zones not read: ") + error.what() + "\n";
  }
  functions_->release(static_cast<std::byte*>(address) - guard_bytes);
}

std::string Device::check_guards() {
  const std::lock_guard lock(allocations_->mutex);
  std::string damage = std::exchange(allocations_->damage, {});
  std::map<std::uint64_t, std::string> by_age;  // addresses differ from run to run
  for (const auto& [data, block] : allocations_->live) {
    std::string found = guard_damage(*this, data, block.bytes, block.number, block.name);
    if (found.empty()) continue;
    write_guards(*this, data, block.bytes, block.number);
    by_age.emplace(block.number, std::move(found));
  }
  for (const auto& [number, found] : by_age) damage += found;
  return damage;
}

void Device::write(void* address, const void* from, std::size_t bytes) {
  if (bytes > 0) functions_->write(address, from, bytes);
}
void Device::read(const void* address, void* to, std::size_t bytes) {
  if (bytes > 0) functions_->read(address, to, bytes);
}
void Device::fill(void* address, int byte, std::size_t bytes) {
  if (bytes > 0) functions_->fill(address, byte, bytes);
}

}  // namespace tally
