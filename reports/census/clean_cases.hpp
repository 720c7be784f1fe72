// How rarely a correct subject fails, as far as a run without failures shows it.
#pragma once

#include <string>

#include "reports/record/record.hpp"

namespace tally {

/// "4,539 cases judged, none failed: at most 0.066 % of them would (95 %, Clopper and Pearson)": 1 - 0.05^(1/n), the
/// upper limit of Clopper and Pearson for no failure in n. Empty where a case failed or none was judged.
std::string clean_sentence(const Results& results);

}  // namespace tally
