// Whether rules also say how far an evaluation that rounds at random usually lies from the exact value: the random part
// r of a bound, its variance proxy s, and how many elements share their roundings (oracle/spread.md). Only the local
// lens asks for them; v and e are the same with and without, bit for bit.
#pragma once

namespace tally::oracle {

inline constinit thread_local bool with_spread_in_force = true;

/// Otherwise r and s of what a rule leaves are empty, and sharing is 1.
inline bool with_spread() { return with_spread_in_force; }

/// In this thread, until the block ends.
class SpreadScope {
 public:
  explicit SpreadScope(bool wanted) : before_(with_spread_in_force) { with_spread_in_force = wanted; }
  ~SpreadScope() { with_spread_in_force = before_; }
  SpreadScope(const SpreadScope&) = delete;
  SpreadScope& operator=(const SpreadScope&) = delete;

 private:
  bool before_;
};

}  // namespace tally::oracle
