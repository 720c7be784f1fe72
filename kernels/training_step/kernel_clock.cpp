#include "kernels/training_step/kernel_clock.hpp"

#include <ctime>
#include <exception>

namespace tally {
namespace {

thread_local KernelClock* running = nullptr;

}  // namespace

KernelClock::KernelClock() { running = this; }
KernelClock::~KernelClock() { running = nullptr; }

KernelClock::Lap::Lap(Stream& stream, std::string_view operation) : stream_(stream), operation_(operation) {
  if (running != nullptr) from_ = now();
}

KernelClock::Lap::~Lap() {
  if (running == nullptr || std::uncaught_exceptions() > 0) return;
  running->seconds_[std::string(operation_)] += now() - from_;
}

double KernelClock::Lap::now() const {
  const bool on_device = stream_.device().kind() == ExecutorKind::cuda;
  if (on_device) stream_.synchronize();
  timespec time{};
  clock_gettime(on_device ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace tally
