#include "reports/census/clean_cases.hpp"

#include <cmath>

#include "reports/census/census.hpp"
#include "reports/text/numbers.hpp"

namespace tally {

std::string clean_sentence(const Results& results) {
  std::uint64_t judged = 0;
  for (const CaseRecord& c : results.cases) {
    if (c.status == Status::fail || c.status == Status::error) return "";
    judged += was_judged(c.status);
  }
  if (judged == 0) return "";
  const double most = -std::expm1(std::log(0.05) / static_cast<double>(judged));
  return counted(judged, "case") + " judged, none failed: at most " + significant(most * 100) +
         " % of such cases would (95 %, Clopper and Pearson)";
}

}  // namespace tally
