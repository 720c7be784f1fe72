// The certified decimal answer to a case, what it takes to call a number exact, and the semantic gap: what accumulation
// changes in exact arithmetic. Defined in answer.cpp, gap.cpp.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/real/ball.hpp"

namespace tally::oracle {

// What it takes to call a number exact: an enclosure that leaves none of the digits asked for open.

/// Enclosures still left something open at the last precision; says what, and where.
class NotCertified : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The precisions in bits at which an answer of `digits` digits is tried: the first with twenty guard digits, each next
/// one doubled, seven doublings.
std::vector<unsigned> precisions(unsigned digits);

/// Evaluates at one precision after the other until nothing is left Undecided. Throws NotCertified at the end of them.
void evaluate_until_decided(const std::vector<unsigned>& bits, const std::function<void()>& evaluate);
/// In balls of fixed size (oracle/real/short_ball.hpp) first, and so only where these leave something Undecided.
void evaluate_until_decided(const std::function<void()>& in_short_balls, const std::vector<unsigned>& bits,
                            const std::function<void()>& evaluate);

/// Which text of an enclosure is certain.
enum class Certain {
  within_a_unit,  // it is less than one unit of its last digit from the number
  rounded,        // it is the number rounded, which any closer enclosure gives as well
};

/// Turns enclosures into certified text.
class Certificate {
 public:
  explicit Certificate(unsigned digits, Certain certain = Certain::within_a_unit)
      : digits_(digits), certain_(certain) {}

  /// `x` rounded to the digits asked for, less than one unit of the last of them from the number itself. Nothing where
  /// its enclosure does not tell them.
  std::optional<std::string> digits_of(const Ball& x) const;

  /// The same, or "0" where the enclosure reaches over 0 and lies more than that many digits below `largest`, a number of
  /// the same group; among rounded texts that is for the number 0 alone, as a closer enclosure might tell digits. Throws
  /// Undecided naming `place` otherwise.
  std::string text(const Ball& x, const Ball& largest, const std::string& place) const;

 private:
  unsigned digits_;
  Certain certain_;
};

// `tally oracle`: the certified decimal answer to a case (oracle/case.md, "What the oracle answers").

/// JSON text of both branches at `digits` (1 to 1000) certified significant digits: from proven enclosures, at whatever
/// precision it takes. Throws NotCertified naming the place where none of the precisions tried is enough.
std::string answer(const Case& c, unsigned digits = 30);

// The semantic gap: what accumulation changes in exact arithmetic. Zero for an equivalent recipe, the exact size of the
// effect otherwise; no rounding is in it.

/// |accumulated - full batch| / |full batch| in the 2-norm over all parameters, for one window. Exactly 0 when the
/// difference is no larger than its own uncertainty; inf when the full batch's is 0 and the accumulated one's is not.
struct WindowGap {
  double gradient = 0;   // of the gradients after unscaling, before clipping
  double parameter = 0;  // of the parameters after the window
};

/// One entry a window, each branch on its own trajectory. The difference is evaluated at two precisions; what changes
/// between them is its uncertainty, and the gap is certified to the precision of a double. Throws NotCertified.
std::vector<WindowGap> semantic_gap(const Case& c);

/// The first window's gradient alone: no step enters it, and so no decision that a step may leave open, such as the sign
/// of a gradient that is 0. Throws NotCertified.
double first_gradient_gap(const Case& c);

/// The gaps of two cases that state one training otherwise, each as it accumulates: for every window that between their
/// gradients, and that between what the window leaves, parameters and running values; under lion, whose step is a sign
/// and so left open where a gradient is 0, those of the first window's gradients and running values alone. Throws
/// NotCertified.
std::vector<WindowGap> gap_between(const Case& c, const Case& other);

}  // namespace tally::oracle
