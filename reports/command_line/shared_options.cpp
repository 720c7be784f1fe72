#include "reports/command_line/shared_options.hpp"

namespace tally::command_line {

void add_subject_name(CLI::App& command, std::string& subject, const std::string& what) {
  command.add_option("--subject", subject, what)->check(CLI::IsMember({"host", "cuda", "checked"}));
}

void add_subject(CLI::App& command, SubjectOptions& options) {
  add_subject_name(
      command, options.subject,
      "where the kernels run: host, cuda or checked, the host with a race checker (default: the best there is)");
  command.add_option("--fault", options.fault, "run with this seeded fault (./tally list faults)");
  command.add_option("--magnitude", options.magnitude,
                     "how much of the fault to plant, from 0 (none) to 1 (all of it)");
  command
      .add_option("--kernel", options.kernels,
                  "OPERATION=VARIANT to run in place of the shipped one (./tally list kernels)")
      ->allow_extra_args(false);
}

CLI::Option* add_effort(CLI::App& command, double& effort) {
  return command.add_option("--effort", effort, "scale the number of cases (default: TALLY_EFFORT or 1)")
      ->check(CLI::PositiveNumber);
}

void add_seed(CLI::App& command, std::string& seed) {
  command.add_option("--seed", seed, "a number, or 'random'")->capture_default_str();
}

void add_out(CLI::App& command, std::string& out, const std::string& what) {
  command.add_option("--out", out, what)->capture_default_str();
}

void add_processes(CLI::App& command, int& processes) {
  command.add_option("--processes", processes, "processes on the host")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void add_all(CLI::App& command, bool& all) {
  command.add_flag("--all", all, "every kernel, law and case, not what fits on a screen");
}

}  // namespace tally::command_line
