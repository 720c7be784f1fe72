// The machine a run uses: guard zones, buffers, devices, streams.
#include "kernels/device/device.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/device/checker/shadow.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/device/executor/concurrent_streams.hpp"
#include "kernels/device/memory_account.hpp"

namespace tally {
namespace {

using Zone = std::array<std::byte, guard_bytes>;

/// 16-bit units 0xff81 ... 0xfffe: NaN as fp16 and bf16, and two of them as fp32.
Zone zone_pattern(std::uint64_t number, bool behind) {
  constexpr std::uint64_t first = 0x81, count = 0x7e;
  Zone zone;
  for (std::size_t i = 0; i < guard_bytes; i += 2) {
    const std::uint64_t mixed = (2 * number + (behind ? 1 : 0)) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull;
    zone[i] = static_cast<std::byte>(first + (mixed >> 40) % count);
    zone[i + 1] = std::byte{0xff};
  }
  return zone;
}

std::string damage_of(Device& device, const std::byte* zone_at, const Zone& expected, const char* where,
                      const std::string& name, std::size_t bytes, bool behind) {
  Zone found;
  device.read(zone_at, found.data(), guard_bytes);
  std::size_t damaged = 0, nearest = 0;
  for (std::size_t i = 0; i < guard_bytes; ++i) {
    if (found[i] == expected[i]) continue;
    if (damaged++ == 0 || !behind) nearest = behind ? i : guard_bytes - 1 - i;
  }
  if (damaged == 0) return {};
  return "buffer '" + name + "' of " + std::to_string(bytes) + " bytes: " + std::to_string(damaged) +
         " bytes written " + where + ", the nearest " + std::to_string(nearest) + " bytes away\n";
}

}  // namespace

void write_guards(Device& device, std::byte* data, std::size_t bytes, std::uint64_t number) {
  device.write(data - guard_bytes, zone_pattern(number, false).data(), guard_bytes);
  device.write(data + bytes, zone_pattern(number, true).data(), guard_bytes);
}

std::string guard_damage(Device& device, const std::byte* data, std::size_t bytes, std::uint64_t number,
                         const std::string& name) {
  return damage_of(device, data - guard_bytes, zone_pattern(number, false), "before it", name, bytes, false) +
         damage_of(device, data + bytes, zone_pattern(number, true), "behind it", name, bytes, true);
}

Buffer::Buffer(Device& on, std::string name, Dtype dtype, std::size_t elements)
    : device_(&on),
      data_(on.allocate(elements * size_of(dtype), std::move(name))),
      dtype_(dtype),
      elements_(elements) {}

Buffer::~Buffer() { device_->release(data_); }

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      dtype_(other.dtype_),
      elements_(other.elements_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(dtype_, other.dtype_);
  std::swap(elements_, other.elements_);
  return *this;
}

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

namespace {

/// Ends a capture that failed; what it says then is the failure again.
void drop_captured(const DeviceFunctions& functions, void* stream) noexcept {
  try {
    functions.release_captured(functions.end_capture(stream));
  } catch (const std::exception&) {
  }
}

}  // namespace

Stream::Stream(Device& on) : device_(&on), handle_(on.functions().create_stream()) {}
Stream::~Stream() { device_->functions().release_stream(handle_); }
void Stream::synchronize() { device_->functions().synchronize(handle_); }

void Stream::fill(void* address, int byte, std::size_t bytes) {
  if (bytes > 0) device_->functions().fill_on(handle_, address, byte, bytes);
}

void Stream::set_schedule_seed(std::uint64_t seed) {
  schedule_seed_ = seed;
  launches_ = 0;
}

void Stream::set_schedule(const std::vector<Preemption>* listed) {
  listed_ = listed;
  launches_ = 0;
}

executor::ScheduleSource Stream::next_schedule() {
  executor::ScheduleSource next{.seed = 0, .listed = listed_, .launch = ++launches_, .recorded = recorded_};
  if (schedule_seed_ == 0) return next;
  const std::uint64_t mixed = schedule_seed_ * 0x9e3779b97f4a7c15ull + launches_ * 0xbf58476d1ce4e5b9ull;
  next.seed = (mixed ^ (mixed >> 29)) | 1;
  return next;
}

CapturedWork::CapturedWork(Stream& stream, const std::function<void()>& give_work)
    : device_(&stream.device()), handle_(nullptr) {
  const DeviceFunctions& functions = device_->functions();
  functions.begin_capture(stream.handle());
  try {
    give_work();
  } catch (...) {
    drop_captured(functions, stream.handle());
    throw;
  }
  handle_ = functions.end_capture(stream.handle());
}

CapturedWork::~CapturedWork() { device_->functions().release_captured(handle_); }
void CapturedWork::launch(Stream& stream) const { device_->functions().launch_captured(handle_, stream.handle()); }

Event::Event(Device& on) : device_(&on), handle_(on.functions().create_event()) {}
Event::~Event() { device_->functions().release_event(handle_); }
void Event::record(Stream& stream) { device_->functions().record(handle_, stream.handle()); }
void Event::wait(Stream& stream) { device_->functions().wait(stream.handle(), handle_); }

}  // namespace tally
