// A word by which readers of other files than the results choose cases.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

/// "ranks" of a case that several ranks train, as its title says; else empty.
std::string tag_of(const CaseRecord& c);

}  // namespace tally
