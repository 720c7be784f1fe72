// One law in one precision: the unit of work a campaign hands out.
#pragma once

#include "properties/campaign/campaign.hpp"

namespace tally {

/// What a task found; merged by the campaign.
struct TaskResult {
  std::vector<CaseRecord> cases;
  bool control_differs = false;
};

/// Replays the corpus' cases of this law and precision, then draws new ones with RapidCheck; the first failing one is
/// shrunk, kept, and ends the task.
TaskResult run_law_task(const Law& law, Dtype storage, const CampaignOptions& options);

/// Runs one case under a law. An executor finding or any other exception becomes an `error` outcome with its text.
Outcome outcome_of(const Law& law, const Case& c, const Subject& subject);

}  // namespace tally
