// What it takes to call a number exact: an enclosure that leaves none of the digits asked for open.
#pragma once

#include <functional>
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

/// Turns enclosures into certified text.
class Certificate {
 public:
  explicit Certificate(unsigned digits) : digits_(digits) {}

  /// `x` rounded to the digits asked for, less than one unit of the last of them from the number itself. "0" where its
  /// enclosure reaches over 0 and lies more than that many digits below `largest`, a number of the same group. Throws
  /// Undecided naming `place` otherwise.
  std::string text(const Ball& x, const Ball& largest, const std::string& place) const;

 private:
  unsigned digits_;
};

}  // namespace tally::oracle
