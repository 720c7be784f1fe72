// Whether rules also say how far an evaluation that rounds at random usually lies from the exact value: the random part
// r of a bound, its variance proxy s, and how many elements share their roundings (oracle/spread.md). Only the local
// lens asks for them; v and e are the same with and without, bit for bit.
#pragma once

namespace tally::oracle {

enum class Spread {
  none,     // r and s of what a rule leaves are empty, and sharing is 1
  least,    // as if no two addends were alike: s and sharing are at most what `counted` gives, and no one sorts addends
  counted,  // addends that are alike round together (oracle/tolerance/alike.hpp)
};

inline constinit thread_local Spread spread_in_force = Spread::counted;

inline bool with_spread() { return spread_in_force != Spread::none; }
inline bool counts_alike() { return spread_in_force == Spread::counted; }

/// In this thread, until the block ends.
class SpreadScope {
 public:
  explicit SpreadScope(Spread wanted) : before_(spread_in_force) { spread_in_force = wanted; }
  ~SpreadScope() { spread_in_force = before_; }
  SpreadScope(const SpreadScope&) = delete;
  SpreadScope& operator=(const SpreadScope&) = delete;

 private:
  Spread before_;
};

}  // namespace tally::oracle
