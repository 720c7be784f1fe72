// `tally faults`: do the laws catch the seeded bugs?
#include <algorithm>
#include <iostream>

#include "properties/campaign/equivalent_task.hpp"
#include "properties/campaign/fault_task.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/progress.hpp"
#include "reports/command_line/subject.hpp"
#include "reports/report.hpp"

namespace tally::command_line {

int faults(const FaultsOptions& options) {
  CampaignOptions campaign;
  campaign.subject = subject_of(options.subject);
  campaign.processes = options.processes;
  campaign.progress = show_progress;
  Results results;
  results.campaign = "faults";
  results.seed = campaign.seed;
  results.faults = run_faults(options.names, campaign);
  results.environment = environment_of(campaign.subject);
  std::cout << (options.json ? to_json(results) : terminal_summary(results));
  if (results.faults.empty()) return nothing_ran;
  if (options.names.empty() && !options.json) {
    std::cout.flush();  // the processes to come must not print what is still buffered
    const auto equivalents = run_equivalents(campaign);
    std::cout << text_of(equivalents);
    if (!std::ranges::all_of(equivalents, &EquivalentAnswer::passes)) return failed;
  }
  const bool all = std::all_of(results.faults.begin(), results.faults.end(),
                               [](const FaultRecord& fault) { return fault.caught && fault.right_stage; });
  return all ? pass : failed;
}

}  // namespace tally::command_line
