// Bounds without exact values: for the terms of a bound, and to time the two apart.
#pragma once

namespace tally::oracle {

inline constinit thread_local bool bounds_only_in_force = false;

/// Whether rules leave the exact functions out; an expectation's v is then the rule's own binary64 magnitude.
inline bool bounds_only() { return bounds_only_in_force; }

/// In this thread, until the block ends.
class BoundsOnlyScope {
 public:
  BoundsOnlyScope() : before_(bounds_only_in_force) { bounds_only_in_force = true; }
  ~BoundsOnlyScope() { bounds_only_in_force = before_; }
  BoundsOnlyScope(const BoundsOnlyScope&) = delete;
  BoundsOnlyScope& operator=(const BoundsOnlyScope&) = delete;

 private:
  bool before_;
};

}  // namespace tally::oracle
