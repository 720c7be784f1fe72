// Streams that work side by side on the host, and work that is captured to be done again.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "kernels/device/executor/launch.hpp"

namespace tally::executor {

// Streams that work side by side on the host. While a ConcurrentStreams lives, what this operating-system thread gives
// to streams of the host executors is kept and done when something waits for it, in one of the orders that streams,
// events and waits allow. Without one, a host stream works at once, which is one of these orders.
//
//   ConcurrentStreams side_by_side({.seed = 7});
//   launch<produce>(first, ...);
//   done.record(first);
//   done.wait(second);
//   launch<consume>(second, ...);
//   side_by_side.finish();
//
// On the checked side accesses of two launches that nothing orders are a race.

struct PendingWork;

class ConcurrentStreams {
 public:
  /// Without a seed or a list, work is done as late as possible: what a stream waits for, in the order it was given.
  /// Drawn, any stream's next work may come first at any time. Choices are recorded as those of launch 0. Throws
  /// std::logic_error where one lives already.
  explicit ConcurrentStreams(const ScheduleSource& order = {});
  /// Work that was not done is dropped.
  ~ConcurrentStreams();
  ConcurrentStreams(const ConcurrentStreams&) = delete;
  ConcurrentStreams& operator=(const ConcurrentStreams&) = delete;

  /// Returns when all work is done; throws what it throws, once. Then what is left is dropped.
  void finish();

 private:
  std::unique_ptr<PendingWork> work_;
};

/// This operating-system thread's; nullptr when host streams work at once.
inline constinit thread_local PendingWork* pending_work = nullptr;

/// Work kept to be done again, in the order it was given.
struct Captured;
/// While it lasts, what this operating-system thread gives to host streams is kept, and the host may not touch device
/// memory or wait: std::logic_error. Throws the same where a capture is under way.
void begin_capture();
Captured* end_capture();
/// Gives it to the stream; a launch keeps the schedule that it was captured with.
void launch_captured(const Captured& captured, const void* stream);
void release_captured(Captured* captured) noexcept;
/// The one under way on this operating-system thread, or nullptr.
inline constinit thread_local Captured* capturing = nullptr;

/// A point in a stream, when it was last recorded.
struct HostEvent;
HostEvent* create_event();
void release_event(HostEvent* event) noexcept;

// The rest does nothing without a ConcurrentStreams.
void record(HostEvent* event, const void* stream);
void wait(const void* stream, const HostEvent* event);
/// Returns when the stream's work is done; throws as finish() does.
void finish_stream(const void* stream);
/// Before the host touches device memory: all work is done first.
void finish_all();
/// The same where nothing may be thrown: the next to wait for a stream, or for all, throws it.
void finish_all_quietly() noexcept;

/// Keeps the launch, and its arguments alive. Throws as run() does for an impossible shape.
void keep(const void* stream, const Launch& launch, std::shared_ptr<const void> arguments);

/// Calls `work`, which stays inside memory that a launch before it was checked for; now or when it is waited for.
void submit(const void* stream, std::function<void()> work);

/// Runs the launch, now or when it is waited for.
template <class Arguments>
void submit(const void* stream, Launch launch, const Arguments& arguments) {
  launch.argument_bytes = sizeof arguments;
  if (pending_work == nullptr && capturing == nullptr) {
    launch.arguments = &arguments;
    return run(launch);
  }
  const auto kept = std::make_shared<const Arguments>(arguments);
  launch.arguments = kept.get();
  keep(stream, launch, kept);
}

// Inside a capture (kernels/device/device.hpp, CapturedWork) on the host.

void keep_captured(const Launch& launch, std::shared_ptr<const void> arguments);
void keep_captured(std::function<void()> work);

/// The host waits, or touches device memory, while nothing of what it waits for has been done.
struct WaitsWhileCaptured : std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws WaitsWhileCaptured during a capture.
void refuse_while_capturing();

}  // namespace tally::executor
