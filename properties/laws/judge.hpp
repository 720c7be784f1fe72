// The verdict on one trace of one case, of ranks together, or of taps that may miss; violations, missing promises,
// false refusals.
#pragma once

#include <string>
#include <string_view>

#include "properties/judge/bound_terms.hpp"
#include "properties/judge/groups.hpp"
#include "properties/laws/law.hpp"

namespace tally {

/// Holds the trace against the local and the end-to-end lens; what broke a rule of the machine (a guard zone, a race)
/// fails as `logic`. The first failure gets what its bound is made of, and suspects. Runs nothing.
Outcome judge(const Case& c, const Trace& trace);

// The verdict on a trace whose taps may miss.

/// judge(), where the trace of a step of a user's own need not hold all: `inferred`, as of a capture.
Outcome judge_grouped(const Case& c, const Trace& trace, Grouping grouping);

/// A settled outcome, vacuous where no step took a gradient that is not zero (steps_shown.hpp).
Outcome dead_or(Outcome outcome, const Case& c, const Trace& trace);

// The verdict on a trace of ranks that train together.

/// judge_grouped() of a case that ranks train: each rank's stages on its own bits, their sums on what all handed over,
/// and everything end to end. Suspects are those of the rank that fails first.
Outcome judge_ranks(const Case& c, const Trace& trace, Grouping grouping);

// At which stage a run broke off.

/// The first stage of the earliest window in which a rank waits, where ranks wait for each other, or for one that has
/// left: "agree" of "deadlock: stage 0 waits for w1/agree of stages from stage 1, which has ended". The same for a
/// message that is of another size than awaited. "kernel" for everything else: a launch broke a rule of the machine.
std::string stage_of_violation(std::string_view violation);

// What a law says where kernels promise no bits.

struct Outcome;  // properties/laws/law.hpp

/// Nothing of this stage's is promised: adds a check that is vacuous and names the kernels. `settled` makes the outcome
/// so, unless it fails.
void no_promise(Outcome& outcome, const PromisedBits& promised, const std::string& stage);

// A false refusal: a verdict that nothing was shown, of a run that has something to show.

/// Why the settled outcome is vacuous, where a window's gradient is not zero (a micro-batch's where none is tapped);
/// empty where it is another status, or where every gradient is exactly zero: dead runs agree whatever they compute.
std::string refusal_of(const Outcome& settled, const Trace& trace);

// Judging without asking what a failure looks like: where a study only counts failures, that is most of the work.

/// While it lives, what fails on this thread has no suspects.
class WithoutSuspects {
 public:
  WithoutSuspects();
  ~WithoutSuspects();
  WithoutSuspects(const WithoutSuspects&) = delete;
  WithoutSuspects& operator=(const WithoutSuspects&) = delete;

 private:
  bool before_;
};

/// Whether none lives.
bool asks_suspects();

}  // namespace tally
