// What a thread asks of rules: bounds alone, some of their sources, or how far errors usually spread.
#pragma once

#include <cmath>

namespace tally::oracle {

// Bounds without exact values: for the terms of a bound, and to time the two apart.

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

// What a bound is made of. A rule that runs again with one source switched off leaves a smaller bound, and the
// difference is that source's term: no rule knows of it, as the switches are read where (v, e) enters and where it
// rounds.

/// The share of each source that the rules take into their bounds: 1 in every verdict, 0 switched off. What is left
/// with all of them off is the distance of recipe constants to the floats that hold them.
struct Sources {
  double input = 1;         // what the rule's inputs carry
  double accumulation = 1;  // the arithmetic in the compute format: products, sums, quotients, roots, their underflow
  double storage = 1;       // one more rounding into the storage, accumulate or master format
  double function = 1;      // what exp, log, tanh and erf may be off
};

inline constinit thread_local Sources sources_in_force;

inline const Sources& sources() { return sources_in_force; }

/// A bound as a rule reads it; what is undecided stays so.
inline double incoming(double e) { return sources().input == 1 || e == INFINITY ? e : sources().input * e; }

/// Other shares, in this thread, until the block ends.
class SourcesScope {
 public:
  explicit SourcesScope(const Sources& now) : before_(sources_in_force) { sources_in_force = now; }
  ~SourcesScope() { sources_in_force = before_; }
  SourcesScope(const SourcesScope&) = delete;
  SourcesScope& operator=(const SourcesScope&) = delete;

 private:
  Sources before_;
};

// Whether rules also say how far an evaluation that rounds at random usually lies from the exact value: the random part
// r of a bound, its variance proxy s, and how many elements share their roundings (oracle/spread.md). Only the local
// lens asks for them; v and e are the same with and without, bit for bit.

enum class Spread {
  none,     // r and s of what a rule leaves are empty, and sharing is 1
  least,    // as if no two addends were alike: s and sharing are at most what `counted` gives, and no one sorts addends
  counted,  // addends that are alike round together (oracle/tolerance/summation.hpp)
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
