// A time limit for code that cannot be asked to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace tally {

class Watchdog {
 public:
  /// `bark` runs in a thread of the watchdog's own, once, when a watch took longer than that; it should end the
  /// process. Not to be made before a fork.
  Watchdog(double seconds, std::function<void()> bark);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches for `factor` times the limit, until stop().
  void start(double factor = 1);
  void stop();

 private:
  void watch();

  const std::chrono::duration<double> limit_;
  const std::function<void()> bark_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace tally
