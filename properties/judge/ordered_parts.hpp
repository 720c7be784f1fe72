// Parts of one large piece of work on the cores that are idle, taken in order: what comes of them is the same for any
// number of threads.
// Defined in judge.cpp.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tally {

/// How many threads one case may use; 1 unless set. A campaign uses the other cores for other cases.
int threads_of_a_case();
void set_threads_of_a_case(int threads);

/// make(0), make(1), … below n, by several threads, each a few in front of the one that is taken.
template <class Make>
class MadeAhead {
 public:
  using Made = decltype(std::declval<const Make&>()(std::size_t{0}));

  MadeAhead(std::size_t n, int threads, const Make& make)
      : n_(n), in_front_(4 * static_cast<std::size_t>(threads)), make_(make) {
    for (int i = 1; i < threads; ++i) others_.emplace_back([this] { work(); });
  }
  MadeAhead(const MadeAhead&) = delete;
  MadeAhead& operator=(const MadeAhead&) = delete;
  ~MadeAhead() {
    {
      const std::lock_guard lock(all_);
      n_ = 0;
    }
    changed_.notify_all();
    for (std::thread& other : others_) other.join();
  }

  /// The next one. This thread makes others while it waits. Throws what `make` threw.
  Made next() {
    std::unique_lock lock(all_);
    const std::size_t i = taken_++;
    changed_.notify_all();
    while (!ready_.contains(i)) {
      if (may_begin())
        make_one(lock);
      else
        changed_.wait(lock);
    }
    Ready made = std::move(ready_.extract(i).mapped());
    if (made.thrown) std::rethrow_exception(made.thrown);
    return *std::move(made.value);
  }

 private:
  struct Ready {
    std::optional<Made> value;
    std::exception_ptr thrown;
  };

  bool may_begin() const { return begun_ < n_ && begun_ < taken_ + in_front_; }

  /// Holds the lock before and after, and not while it makes.
  void make_one(std::unique_lock<std::mutex>& lock) {
    const std::size_t i = begun_++;
    lock.unlock();
    Ready made;
    try {
      made.value.emplace(make_(i));
    } catch (...) {
      made.thrown = std::current_exception();
    }
    lock.lock();
    ready_.emplace(i, std::move(made));
    changed_.notify_all();
  }

  void work() {
    std::unique_lock lock(all_);
    while (begun_ < n_) {
      if (may_begin())
        make_one(lock);
      else
        changed_.wait(lock);
    }
  }

  std::mutex all_;
  std::condition_variable changed_;
  std::size_t n_, taken_ = 0, begun_ = 0;
  const std::size_t in_front_;
  const Make& make_;
  std::map<std::size_t, Ready> ready_;
  std::vector<std::thread> others_;
};

/// Calls take(make(i)) for i = 0, 1, … below n, until take says false: `take` here and in order, `make` on several
/// threads ahead of it. True where it never said so.
template <class Make, class Take>
bool taken_in_order(std::size_t n, int threads, const Make& make, Take&& take) {
  const auto as_many = static_cast<int>(std::min(n, static_cast<std::size_t>(std::max(1, threads))));
  MadeAhead<Make> ahead(n, std::max(1, as_many), make);
  for (std::size_t i = 0; i < n; ++i)
    if (!take(ahead.next())) return false;
  return true;
}

}  // namespace tally
