// What is left of a job whose process died: everything it had found up to the step it died of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tally {

/// How a process ended that gave no whole answer.
struct Death {
  std::string how;            // "signal 11 (Segmentation fault)"
  bool from_outside = false;  // by a signal that no program sends itself: somebody's kill, or no memory left
  std::uint64_t step = 0;     // run again, a job ends at the first step from here on, without taking it
};

/// Which step to end at, run after run, until an answer comes. A death may be long after its cause, as where a heap is
/// spoilt and every later call may find it so: then the last step is looked for from which an answer still comes, by
/// halves, as a job is the same up to there each time.
class Rescue {
 public:
  /// The process died in that step, or after it. Where to end it next; nothing when there is no more to try.
  std::optional<Death> died(const Death& death);
  /// An answer came. Where to end it next; nothing when no later step can give one.
  std::optional<Death> answered(std::string answer);
  /// The answer of the latest step that gave one, or "crash: " and how the process ended at first.
  std::string result() const;

 private:
  std::optional<Death> next() const;

  std::optional<Death> first_;
  std::int64_t answers_ = -1, dies_ = 0, tried_ = -1;  // the latest step that is known to, the earliest, the last one
  std::optional<std::string> best_;
};

}  // namespace tally
