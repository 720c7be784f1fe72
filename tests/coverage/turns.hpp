// Counts the turns of every loop. What counted.py sets around a loop, for (…) body:
//
//   for (::tally_turns::Run turns_5(5); turns_5.once();) for (…) if (!turns_5.turn()) {} else body
#pragma once

#include <type_traits>

namespace tally_turns {

/// Whether a loop ever ended after so many turns, and the most that it ever took.
struct Loop {
  unsigned none, one, two, most;
};

constexpr unsigned loops = 1u << 16;
alignas(4096) extern Loop counted[loops];  // shared by all processes of a run (turns.cpp)

/// One run of a loop, from before its header until it is left, whichever way.
class Run {
 public:
  constexpr explicit Run(unsigned number) : number_(number) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  constexpr ~Run() {
    if (!std::is_constant_evaluated()) note();
  }
  constexpr bool once() {
    const bool first = !entered_;
    entered_ = true;
    return first;
  }
  constexpr bool turn() {
    ++turns_;
    return true;
  }

 private:
  /// Written only where it says something new, so that processes and inner loops stay out of each other's way.
  void note() const {
    Loop& loop = counted[number_];
    unsigned* const seen = turns_ == 0 ? &loop.none : turns_ == 1 ? &loop.one : turns_ == 2 ? &loop.two : nullptr;
    if (seen && __atomic_load_n(seen, __ATOMIC_RELAXED) == 0) __atomic_store_n(seen, 1u, __ATOMIC_RELAXED);
    unsigned most = __atomic_load_n(&loop.most, __ATOMIC_RELAXED);
    while (most < turns_ &&
           !__atomic_compare_exchange_n(&loop.most, &most, turns_, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }

  unsigned number_, turns_ = 0;
  bool entered_ = false;
};

}  // namespace tally_turns
