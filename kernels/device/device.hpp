// The machine a run uses: its memory, with guard zones around every buffer, and its streams.
//
// Fresh memory is poisoned: every byte 0xff, a NaN in every floating-point format. The guard zones start at the very
// next byte on both sides and are NaN in every 16-bit and 32-bit format too.
// Defined in device.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/executor/schedule.hpp"
#include "oracle/case/tensors/tensor.hpp"

namespace tally {

/// `checked`: the host executor, every access of a kernel to memory observed (kernels/device/checker).
enum class ExecutorKind { host, cuda, checked };

/// "host", "cuda", "checked".
std::string_view name_of(ExecutorKind kind);

/// The asked-for device is not there: built without CUDA, or neither /dev/nvidia* nor libcuda.so.1; built without
/// checks.
class DeviceAbsent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device is there, and failed.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& what, std::source_location at);
};

/// What a device must be able to do; kernels/device/host_device.cpp, kernels/device/cuda/cuda_device.cpp.
struct DeviceFunctions {
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* address) noexcept;
  void (*write)(void* address, const void* from, std::size_t bytes);  // from the host
  void (*read)(const void* address, void* to, std::size_t bytes);     // to the host, after all work on it
  void (*fill)(void* address, int byte, std::size_t bytes);
  void (*fill_on)(void* stream, void* address, int byte, std::size_t bytes);  // among the stream's work
  void* (*create_stream)();
  void (*release_stream)(void* stream) noexcept;
  void (*synchronize)(void* stream);
  void* (*create_event)();
  void (*release_event)(void* event) noexcept;
  void (*record)(void* event, void* stream);
  void (*wait)(void* stream, void* event);
  void (*begin_capture)(void* stream);  // from here on its work is kept, not done
  void* (*end_capture)(void* stream);   // what was kept
  void (*launch_captured)(void* captured, void* stream);
  void (*release_captured)(void* captured) noexcept;
};

/// One device. Threads may share it; what it throws is CudaError, or std::bad_alloc for host memory.
class Device {
 public:
  Device(ExecutorKind kind, std::string name, const DeviceFunctions& functions);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ExecutorKind kind() const { return kind_; }
  const std::string& name() const { return name_; }  // of the machine, for reports
  const DeviceFunctions& functions() const { return *functions_; }

  /// Poisoned memory between guard zones; `name` is for check_guards. Never nullptr, also for 0 bytes.
  void* allocate(std::size_t bytes, std::string name);
  void release(void* address) noexcept;

  void write(void* address, const void* from, std::size_t bytes);
  void read(const void* address, void* to, std::size_t bytes);
  void fill(void* address, int byte, std::size_t bytes);
  void zero(void* address, std::size_t bytes) { fill(address, 0, bytes); }

  /// Empty when every guard zone is intact; otherwise one line for each damaged zone: first of the buffers released
  /// since the last call, then of those still there from the oldest on. Damaged zones are restored, so the next call
  /// reports what happened since.
  std::string check_guards();

 private:
  struct Allocations;
  ExecutorKind kind_;
  std::string name_;
  const DeviceFunctions* functions_;
  Allocations* allocations_;
};

/// Whether the CUDA executor's kernels are in this program.
bool built_with_cuda();
/// Whether the checked executor's are.
bool built_with_checks();
/// Those whose kernels are in this program; whether their devices are there is another matter.
std::vector<ExecutorKind> executors_built();

/// The process's device of that kind. Throws DeviceAbsent, or CudaError when it is there and fails.
Device& device(ExecutorKind kind);

/// Memory for elements of one type, released with the object.
class Buffer {
 public:
  Buffer(Device& on, std::string name, Dtype dtype, std::size_t elements);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  void* data() const { return data_; }
  Dtype dtype() const { return dtype_; }
  std::size_t elements() const { return elements_; }
  std::size_t bytes() const { return elements_ * size_of(dtype_); }

 private:
  Device* device_;
  void* data_;
  Dtype dtype_;
  std::size_t elements_;
};

/// Work in order, and with Device::write, read and fill. A host executor works at once, or beside other streams
/// (kernels/device/executor/concurrent_streams.hpp).
class Stream {
 public:
  explicit Stream(Device& on);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return *device_; }
  void* handle() const { return handle_; }
  /// Returns when all work is done; throws CudaError for a fault in it.
  void synchronize();
  /// Device::fill, but among this stream's work.
  void fill(void* address, int byte, std::size_t bytes);

  /// From now on every launch on the host executor draws its schedule from this seed; 0: threads run in order.
  void set_schedule_seed(std::uint64_t seed);
  /// From now on every launch makes these choices and otherwise the default ones; nullptr: as the seed says. The list
  /// is read at every launch.
  void set_schedule(const std::vector<Preemption>* listed);
  /// Notes every choice but the default ones of a drawn schedule, for set_schedule; nullptr: no more.
  void record_schedule(std::vector<Preemption>* recorded) { recorded_ = recorded; }
  /// The next launch's own.
  executor::ScheduleSource next_schedule();

 private:
  Device* device_;
  void* handle_;
  std::uint64_t schedule_seed_ = 0, launches_ = 0;
  const std::vector<Preemption>* listed_ = nullptr;
  std::vector<Preemption>* recorded_ = nullptr;
};

/// Work of one stream, kept to be done again and again: a CUDA graph; on the host the launches themselves. It holds the
/// addresses it was given, so their memory has to stay.
class CapturedWork {
 public:
  /// Calls `give_work`, which gives the stream work that is kept, not done. It may not touch device memory from the
  /// host nor wait for any stream: CudaError, on the host std::logic_error. Throws what `give_work` throws.
  CapturedWork(Stream& stream, const std::function<void()>& give_work);
  ~CapturedWork();
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  /// Gives it to a stream of the same device.
  void launch(Stream& stream) const;

 private:
  Device* device_;
  void* handle_;
};

/// A point in a stream that another stream can wait for.
class Event {
 public:
  explicit Event(Device& on);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(Stream& stream);
  void wait(Stream& stream);

 private:
  Device* device_;
  void* handle_;
};

}  // namespace tally
