// The studies that the program was built with: what the folder of evidence held, so that every page can show it.
#pragma once

#include <vector>

#include "reports/record/study.hpp"

namespace tally {

/// By family and name. Throws std::runtime_error if one is damaged, which the tests would have seen.
std::vector<Study> kept_studies();

}  // namespace tally
