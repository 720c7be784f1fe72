// In which order the executor's threads run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "oracle/case/preemption.hpp"

namespace tally::executor {

// What a launch takes its schedule from: nothing (threads run in order), a seed, or a list.

struct ScheduleSource {
  std::uint64_t seed = 0;                           // of this launch; 0: not drawn
  const std::vector<Preemption>* listed = nullptr;  // nullptr: no list
  std::uint64_t launch = 0;                         // this launch's number in the list
  std::vector<Preemption>* recorded = nullptr;      // where choices other than the default are noted, or nullptr
};

// Which thread runs next: in order, drawn or listed, and the few choices of a list that matter.

// The order in which threads start and ready threads go on: in order, or drawn from a seed.

/// splitmix64, a counter with a mixing function.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed = 0) : state_(seed), drawn_(seed != 0) {}

  bool drawn() const { return drawn_; }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Below `limit`, which is at least 1.
  std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }

 private:
  std::uint64_t state_;
  bool drawn_;
};

// Which thread runs at every point where another one could: in order, drawn from a seed, or read from a list. Choices
// are numbered, 0 is the default; a drawn schedule can be recorded as the list of its other choices and replayed.

/// The choices of one launch.
class Choices {
 public:
  explicit Choices(const ScheduleSource& source = {}) : source_(source), random_(source.seed) {
    if (source_.listed != nullptr) {
      find_listed();
    } else if (source_.seed != 0) {
      // Seldom, now and then, often: which it is, is drawn for every launch.
      gap_ = std::uint64_t{4} << 3 * random_.below(4);
      next_ = 1 + random_.below(2 * gap_);
    }
  }

  /// False: every choice is the default one, and there is none to make.
  bool free() const { return source_.listed != nullptr || source_.seed != 0; }

  /// One of `count` choices, at a point where the running thread cannot simply go on.
  std::uint64_t pick(std::uint64_t count) {
    ++step_;
    if (source_.listed != nullptr) return listed(count);
    if (source_.seed == 0) return 0;
    return noted(random_.below(count));
  }

  /// At a memory access: whether something else may run first.
  bool interrupts() { return ++step_ >= next_; }
  /// Then: one of `count` choices, of which 0 is to go on.
  std::uint64_t pick_interruption(std::uint64_t count) {
    if (source_.listed != nullptr) return listed(count);
    next_ = step_ + 1 + random_.below(2 * gap_);
    return noted(random_.below(count));
  }

 private:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t noted(std::uint64_t pick) {
    if (pick != 0 && source_.recorded != nullptr) source_.recorded->push_back({source_.launch, step_, pick});
    return pick;
  }
  /// A pick that no longer exists counts as the last one.
  std::uint64_t listed(std::uint64_t count) {
    if (step_ < next_) return 0;
    const std::uint64_t pick = step_ == next_ ? (*source_.listed)[at_].pick : 0;
    find_listed();
    return pick < count ? pick : count - 1;
  }
  /// The first entry for a step of this launch that is still to come.
  void find_listed() {
    const auto& all = *source_.listed;
    while (at_ < all.size() && (all[at_].launch != source_.launch || all[at_].step <= step_)) ++at_;
    next_ = at_ < all.size() ? all[at_].step : never;
  }

  ScheduleSource source_;
  Schedule random_;
  std::uint64_t step_ = 0, next_ = never, gap_ = 0;
  std::size_t at_ = 0;
};

// Delta debugging of a schedule: the few choices that matter.

/// A part of `all` that still `fails`, and none of whose entries alone can be left out; `all` itself where nothing
/// smaller fails. Asks at most `attempts` times.
std::vector<Preemption> fewest_preemptions(std::vector<Preemption> all, int attempts,
                                           const std::function<bool(const std::vector<Preemption>&)>& fails);

}  // namespace tally::executor
