// `tally faults`: do the laws catch the seeded bugs?
#include <algorithm>
#include <iostream>
#include <utility>

#include "properties/faults/trials/trials.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/report.hpp"
#include "reports/text/words.hpp"

namespace tally::command_line::faults_command {
namespace {

struct FaultsOptions {
  SubjectOptions subject;
  std::vector<std::string> names;
  bool json = false;
  int processes = defaults::processes;
};

/// One line for every case that caught a fault.
void say_how_to_replay(const Results& results) {
  for (const FaultRecord& fault : results.faults) {
    const std::string command = replay_command(fault, results.environment);
    if (!command.empty()) std::cout << "replay: " << command << "\n";
  }
}

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
    matrix = fault_matrix(tally::faults(), campaign);
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

void add_options(CLI::App& command, FaultsOptions& options) {
  add_subject_name(command, options.subject.subject, "where the kernels run");
  command.add_option("names", options.names, "faults to run (default: all)");
  command.add_option("--magnitude", options.subject.magnitude,
                     "how much of the faults named to plant, from 0 (none) to 1 (all of it)");
  command.add_flag("--json", options.json, "print one JSON document");
  add_processes(command, options.processes);
}

const RegisterCommand registered{{
    .place = 150,
    .name = "faults",
    .help = "run every seeded fault: caught, by which law, at which stage",
    .bind = with_options(add_options, faults),
}};

}  // namespace
}  // namespace tally::command_line::faults_command
