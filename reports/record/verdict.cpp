#include <algorithm>

#include "reports/record/record.hpp"

namespace tally {
namespace {

struct Seen {
  bool pass = false, fail = false, vacuous = false, error = false;

  void add(Status status) {
    pass |= status == Status::pass;
    fail |= status == Status::fail;
    vacuous |= status == Status::vacuous;
    error |= status == Status::error;
  }
};

}  // namespace

bool control_is_missing(const LawRecord& law) {
  return law.failed == 0 && law.cases > law.not_run + law.vacuous && !law.control.empty() && !law.control_differs;
}

bool triggers_are_missing(const Results& results) {
  if (!results.triggers_required || !results.shard.empty() || results.partial) return false;
  return trigger_totals(results.triggers).unreached > 0;
}

Status verdict_of(const Results& results) {
  if (!results.certified.disagreements.empty()) return Status::error;
  Seen seen;
  seen.fail = triggers_are_missing(results);
  for (const CaseRecord& c : results.cases) seen.add(c.status);
  for (const TrainingRecord& t : results.training) seen.add(t.status);
  for (const LawRecord& law : results.laws) {
    if (law.status != Status::pass) seen.add(law.status);  // a law passes by its cases, not by saying so
    if (law.failed > 0 || (control_is_missing(law) && !results.partial)) seen.add(Status::fail);
  }
  const bool faults_alone = results.cases.empty() && results.training.empty();
  for (const FaultRecord& fault : results.faults) {
    seen.fail |= !fault.caught;
    seen.pass |= fault.caught && faults_alone;
  }
  if (seen.fail) return Status::fail;
  if (seen.error) return Status::error;
  if (results.partial) return Status::not_run;
  if (seen.pass) return Status::pass;
  return seen.vacuous ? Status::vacuous : Status::not_run;
}

}  // namespace tally
