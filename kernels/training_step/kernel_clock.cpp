#include "kernels/training_step/kernel_clock.hpp"

#include <ctime>
#include <exception>

#include "kernels/trace/last_place.hpp"

namespace tally {
namespace {

thread_local KernelClock* running = nullptr;

}  // namespace

KernelClock::KernelClock() { running = this; }
KernelClock::~KernelClock() { running = nullptr; }

KernelClock::Lap::Lap(Stream& stream, std::string_view operation) : stream_(stream) {
  note_operation(operation);
  if (running == nullptr) return;
  auto place = running->operations_.find(operation);
  if (place == running->operations_.end()) place = running->operations_.try_emplace(std::string(operation)).first;
  const std::uint64_t before = place->second.calls++;
  if (before >= all_timed && before % one_in != 0) return;
  timed_ = &place->second;
  from_ = now();
}

KernelClock::Lap::~Lap() {
  note_operation("");
  if (timed_ == nullptr || std::uncaught_exceptions() > 0) return;
  timed_->seconds += (now() - from_) * (timed_->calls > all_timed ? one_in : 1);
}

std::map<std::string, double> KernelClock::seconds() const {
  std::map<std::string, double> all;
  for (const auto& [operation, timed] : operations_) all[operation] = timed.seconds;
  return all;
}

double KernelClock::Lap::now() const {
  const bool on_device = stream_.device().kind() == ExecutorKind::cuda;
  if (on_device) stream_.synchronize();
  timespec time{};
  clock_gettime(on_device ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace tally
