// What the bounds assume, and what holds for a subject: printed in every report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/case/case.hpp"
#include "oracle/layers/claim.hpp"

namespace tally::oracle {

std::vector<std::pair<std::string, std::string>> ledger(const Claims& claims, const Precision& precision);

}  // namespace tally::oracle
