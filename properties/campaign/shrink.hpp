// From a failing plan to the smallest and roundest case that fails in the same way, its schedule of threads written
// down.
#pragma once

#include <functional>
#include <optional>

#include "properties/campaign/campaign.hpp"
#include "properties/laws/law.hpp"

namespace tally {

// A failing case whose drawn schedule is written down, and shrunk to the choices that matter.

/// Tries the case with its drawn schedule as a list, then shorter lists. `fails_alike` remembers what still fails;
/// asked at most `attempts` times. Does nothing for a case without a drawn schedule.
void with_listed_schedule(const Case& c, const RunOptions& subject, int attempts,
                          const std::function<bool(const Case&)>& fails_alike);

/// How a case fails. Shrinking keeps it, so that it does not slip from one bug to another.
struct FailureSignature {
  Status status = Status::pass;
  FailureClass failure = FailureClass::none;
  std::string lens, stage;
  std::vector<std::string> suspects;  // the likeliest one, and those as good as it; empty where there is none
  /// What the worst element is: so that a telling ratio does not shrink to 0 where something else came.
  bool expected_is_zero = false, got_is_zero = false, got_is_finite = true;
};
FailureSignature signature_of(const Outcome& outcome);
/// The same failure, told apart from other bugs no worse: suspects of `now` that are as good as the first were so
/// before. At K = 2, say, K and K / (K - 1) are one factor, so that a smaller case would blur two bugs.
bool is_alike(const FailureSignature& now, const FailureSignature& before);

/// What shrinking one case may cost: some ten seconds where a case has many rows, never reached where it has few.
inline constexpr std::uint64_t elements_to_shrink = 1u << 23;

struct ShrunkCase {
  Case c;
  Outcome outcome;
  std::uint64_t attempts = 0;
};

/// The plan first (layers, micro-batches, recipe, sizes), then the tensors' values (towards 0, 1, small integers,
/// powers of two, few bits). A case counts only if it fails with the same signature; and where the failure is no local
/// one (a law compared two runs), only if the shipped stages pass it: small values must not leave the law's domain,
/// which only its plans are sure to be in. Deterministic: what it may cost is counted in elements of the cases tried,
/// not timed. When `interrupted` is set it ends with the smallest case so far.
ShrunkCase shrunk(const Law& law, const Plan& plan, const Outcome& failing, const RunOptions& subject,
                  std::uint64_t elements_at_most = elements_to_shrink, const std::atomic<bool>* interrupted = nullptr);

}  // namespace tally
