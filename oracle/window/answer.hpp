// `tally oracle`: the certified decimal answer to a case (oracle/case.md, "What the oracle answers").
#pragma once

#include <string>

#include "oracle/case/case.hpp"
#include "oracle/window/certificate.hpp"

namespace tally::oracle {

/// JSON text of both branches at `digits` (1 to 1000) certified significant digits: from proven enclosures, at whatever
/// precision it takes. Throws NotCertified naming the place where none of the precisions tried is enough.
std::string answer(const Case& c, unsigned digits = 30);

}  // namespace tally::oracle
