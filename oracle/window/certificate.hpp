// What it takes to call a number exact: an enclosure that leaves none of the digits asked for open.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle/real/ball.hpp"

namespace tally::oracle {

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

}  // namespace tally::oracle
