#include "properties/campaign/dead_case.hpp"

#include "properties/laws/outcome.hpp"

namespace tally {

Outcome outcome_of_death(const Death& death, const std::string& doing) {
  Outcome outcome;
  outcome.message = "the process that ran " + doing + " was ended by " + death.how;
  outcome.status = death.from_outside ? Status::error : Status::fail;
  if (!death.from_outside) require(outcome, false, "process", "kernel", outcome.message);
  return outcome;
}

}  // namespace tally
