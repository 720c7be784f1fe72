#include "properties/campaign/watchdog.hpp"

namespace tally {

Watchdog::Watchdog(double seconds, std::function<void()> bark)
    : limit_(seconds), bark_(std::move(bark)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(double factor) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(factor * limit_);
  }
  changed_.notify_one();
}

void Watchdog::stop() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *deadline_) {
      changed_.wait_until(lock, *deadline_);
    } else {
      deadline_.reset();
      lock.unlock();
      bark_();
      lock.lock();
    }
  }
}

}  // namespace tally
