// A search that tries to break the bounds, and its steps.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/device/executor/schedule.hpp"
#include "properties/lab/evidence/cases.hpp"

namespace tally {

// One small change of a case or of the orders it runs in: a step of the hill climb.

/// Changes one element of one floating-point tensor (a bit flipped, a neighbour, negated, times a power of two, another
/// element's value), a whole tensor by a power of two, or an order. The case stays valid: values stay finite, variances
/// not negative.
void change(CleanCase& made, executor::Schedule& random);

// A search that tries to break the bounds: from drawn cases uphill on the worst local r of every part, over the bits
// of inputs and the orders of additions and threads.

struct Climb {
  double first = 0, best = 0;  // worst local r of the part at the start, and the largest reached
  std::uint64_t improved = 0;  // steps that raised it
  std::string tap;             // of the best
  std::string token;           // of a case with r > 1, to replay; its hash where it is long; else empty

  void merge(const Climb& other);
  friend bool operator==(const Climb&, const Climb&) = default;
};

/// By precision and part: "fp32", "forward linear".
using Climbs = std::map<std::pair<std::string, std::string>, Climb>;
void merge(Climbs& climbs, const Climbs& more);

/// Every part keeps the case that got furthest for it; a step changes one part's case in one place and keeps the result
/// for each part that it does not make worse. Parts of `start` whose r is 0 are exact and have no hill to climb.
Climbs climb(const CleanCase& start, int steps, std::uint64_t seed);

std::string text_of(const Climbs& climbs);
/// Throws std::runtime_error with the line that is wrong.
Climbs climbs_of_text(std::string_view text);

}  // namespace tally
