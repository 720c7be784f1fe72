// `tally faults`: do the laws catch the seeded bugs?
#include <algorithm>
#include <iostream>
#include <utility>

#include "properties/campaign/equivalent_task.hpp"
#include "properties/campaign/fault_matrix.hpp"
#include "properties/campaign/fault_task.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/progress.hpp"
#include "reports/command_line/subject.hpp"
#include "reports/report.hpp"
#include "reports/text/replay.hpp"

namespace tally::command_line {
namespace {

/// One line for every case that caught a fault.
void say_how_to_replay(const Results& results) {
  for (const FaultRecord& fault : results.faults) {
    const std::string command = replay_command(fault, results.environment);
    if (!command.empty()) std::cout << "replay: " << command << "\n";
  }
}

/// All of them; in here the name stands for the command.
std::vector<const Fault*> faults_planted() { return tally::faults(); }

}  // namespace

int faults(const FaultsOptions& options) {
  CampaignOptions campaign;
  SubjectOptions subject = options.subject;
  plant_at(std::exchange(subject.magnitude, 1), options.names);
  campaign.subject = subject_of(subject);
  campaign.processes = options.processes;
  campaign.progress = show_progress;
  Results results;
  results.campaign = "faults";
  results.seed = campaign.seed;
  results.faults = run_faults(options.names, campaign);
  results.environment = environment_of(campaign.subject, subject);
  std::vector<FaultRow> matrix;
  if (options.names.empty()) {
    matrix = fault_matrix(faults_planted(), campaign);
    results.studies.push_back(study_of(matrix));
  }
  if (options.json) {
    print_document(to_json(results));
  } else {
    std::cout << terminal_summary(results);
  }
  if (!options.names.empty() && !options.json) say_how_to_replay(results);
  if (results.faults.empty()) return nothing_ran;
  if (options.names.empty() && !options.json) {
    std::cout << text_of(matrix);
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
