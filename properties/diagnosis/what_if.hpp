// What a stage would have left, had the case or the bits that it read been others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/diagnosis/evidence.hpp"

namespace tally {

/// One way in which a stage may have gone wrong, and what it would have left: `left[i]` for `evidence.held[i]`, nullopt
/// where it leaves that tensor right.
struct Hypothesis {
  std::vector<std::optional<Values>> left;
  std::string sentence, formula;  // for people
  int parameters = 0;             // numbers that were chosen by looking at what came
  double tries = 1;               // as many values that one of them could have taken and told as much
  double rivals = 0;              // how many ways come before this one in plausibility; 0: as many as its suspect has
  std::vector<std::optional<Values>> bounds = {};  // of `left`, where an element has the bound of another place
};

/// The oracle's own rules on this case and this trace, in place of the evidence's, for every held tensor; empty where
/// they cannot be applied. A tensor whose expectation does not change is nullopt. `bounds`, where set, takes theirs.
std::vector<std::optional<Values>> what_if(const Evidence& evidence, const Case& c, const Trace& trace,
                                           std::vector<std::optional<Values>>* bounds = nullptr);

/// A copy of the trace with some of its taps' values changed; nullopt keeps the bits.
Trace altered(const Trace& trace, const std::function<std::optional<Tensor>(const Tap& tap)>& change);

/// A trace some of whose taps read as one thing after another: what none of them changes is copied once.
class AlteredTrace {
 public:
  /// The trace must live as long.
  explicit AlteredTrace(const Trace& trace) : original_(trace), now_(trace) {}

  /// The taps of these numbers with other values, nullopt keeps the bits; all others as they were. Whether a bit differs.
  bool alter(const std::vector<std::size_t>& taps, const std::function<std::optional<Tensor>(const Tap& tap)>& change);
  const Trace& now() const { return now_; }

 private:
  const Trace& original_;
  Trace now_;
  std::vector<std::size_t> altered_;
};

/// Whether anything changes at all, for the tensor that fails.
bool says_something(const Evidence& evidence, const Hypothesis& hypothesis);

}  // namespace tally
