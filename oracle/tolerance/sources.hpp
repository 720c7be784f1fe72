// What a bound is made of. A rule that runs again with one source switched off leaves a smaller bound, and the
// difference is that source's term: no rule knows of it, as the switches are read where (v, e) enters and where it
// rounds.
#pragma once

#include <cmath>

namespace tally::oracle {

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

}  // namespace tally::oracle
