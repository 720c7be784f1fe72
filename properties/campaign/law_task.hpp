// One law in one precision: the unit of work a campaign hands out.
// Defined in law_task.cpp, outcome_of.cpp.
#pragma once

#include "properties/campaign/campaign.hpp"
#include "properties/campaign/rescue.hpp"

namespace tally {

/// What a task found; merged by the campaign.
struct TaskResult {
  std::vector<CaseRecord> cases;
  bool control_differs = false;
  std::vector<TriggerRecord> triggers;  // of the drawn cases
  CertifiedRecord certified;            // of the drawn cases
  std::optional<Case> failing;          // the first of the drawn cases that failed
};

/// Takes what was found before a case that does not end, its error last; must not return. Called in another thread.
using Abandon = std::function<void(const TaskResult&)>;

/// The process of this very task died before; nullptr: it did not, as far as anybody knows.
using Died = const Death*;

/// Replays the corpus' cases of this law and precision, then draws new ones; the first failing one is shrunk, kept, and
/// ends the task, unless the options say to keep going: then the others that fail are on record as drawn. With
/// `abandon`, a case that takes longer than the options allow ends it as an error. With `died`, the task ends at that
/// death's step, with the case that the process died of as its failing one, whatever the time.
TaskResult run_law_task(const Law& law, Dtype storage, const CampaignOptions& options, const Abandon& abandon = {},
                        Died died = nullptr);

/// Runs one case under a law. An executor finding or any other exception becomes an `error` outcome with its text.
Outcome outcome_of(const Law& law, const Case& c, const RunOptions& subject);

}  // namespace tally
