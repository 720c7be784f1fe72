// What it takes to call a number exact: evaluations at two precisions that agree.
#pragma once

#include <string>
#include <vector>

#include "oracle/real/real.hpp"

namespace tally::oracle {

/// The decimal precisions that an answer of `digits` digits is evaluated at, in order: the first with guard digits,
/// each next one at least doubled. Neighbours are compared; six doublings follow the first pair, then the answer is
/// refused. The second lies at least 100 digits above the first, so that a summand lost beside another up to 10^100
/// times as large shows as a disagreement.
std::vector<unsigned> precisions(unsigned digits);

/// Turns pairs of evaluations of one number into certified text.
class Certificate {
 public:
  explicit Certificate(unsigned digits);

  /// `fine` rounded to the digits asked for when both evaluations agree to a quarter unit of the last of them; "0" when
  /// they do not but both lie more than that many digits below `largest`, the largest number of the same group.
  /// Throws NotCertified naming `place` otherwise.
  std::string text(const Real& coarse, const Real& fine, const Real& largest, const std::string& place) const;

 private:
  unsigned digits_;
  Real scale_;  // 10^digits
};

}  // namespace tally::oracle
