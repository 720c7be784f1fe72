// `tally oracle`: the certified decimal answer to a case (oracle/case.md, "What the oracle answers").
#pragma once

#include <stdexcept>
#include <string>

#include "oracle/case/case.hpp"

namespace tally::oracle {

/// Two precisions still disagreed after six doublings.
class NotCertified : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// JSON text of both branches at `digits` (1 to 1000) certified significant digits.
std::string answer(const Case& c, unsigned digits = 30);

}  // namespace tally::oracle
