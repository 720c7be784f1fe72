#include <exception>

#include "kernels/device/device.hpp"

namespace tally {
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
