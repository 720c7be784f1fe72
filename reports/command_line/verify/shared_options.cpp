#include "reports/command_line/verify/shared_options.hpp"

#include <set>

#include "reports/command_line/verify/own_step_subject.hpp"

namespace tally::command_line {
namespace {

const std::set<std::string> executors{"host", "cuda", "checked"};

std::string known_subject(const std::string& word) {
  if (is_own_step(word) || executors.contains(word)) return "";
  return "'" + word + "'; expected host, cuda, checked, step:LIBRARY or exec:COMMAND";
}

}  // namespace

void add_subject_name(CLI::App& command, std::string& subject, const std::string& what) {
  command.add_option("--subject", subject, what)->check(CLI::IsMember(executors));
}

void add_subject(CLI::App& command, SubjectOptions& options) {
  command
      .add_option("--subject", options.subject,
                  "where the kernels run: host, cuda or checked, the host with a race checker (default: the best there "
                  "is); or a training step of your own: step:LIBRARY or exec:COMMAND")
      ->check(known_subject);
  command.add_option("--step-memory", options.step_memory, "memory for each process of a step of your own")
      ->capture_default_str();
  command.add_flag("--in-process", options.in_process, "run a library's step in this process: fast, and unguarded");
  command
      .add_option("--ranks", options.ranks,
                  "who trains cases of several ranks: model, all in this process; mpi:N, N processes joined by MPI; "
                  "or nccl:N, these with a GPU each, on which NCCL adds up")
      ->capture_default_str();
  command.add_option("--launcher", options.launcher, "command that starts MPI's processes (default: mpirun, as found)");
  command.add_flag("--allow-root", options.allow_root, "let it start them as root");
  command.add_option("--fault", options.fault, "run with this seeded fault (./tally list faults)");
  command.add_option("--magnitude", options.magnitude,
                     "how much of the fault to plant, from 0 (none) to 1 (all of it)");
  command
      .add_option("--kernel", options.kernels,
                  "OPERATION=VARIANT to run in place of the shipped one (./tally list kernels)")
      ->allow_extra_args(false);
}

CLI::Validator above_zero() {
  const auto complaint = [](const std::string& text) -> std::string {
    double number = 0;
    return CLI::detail::lexical_cast(text, number) && number > 0 ? "" : "found " + text + ", expected a number above 0";
  };
  return {complaint, "POSITIVE", "above_zero"};
}

CLI::Option* add_effort(CLI::App& command, double& effort) {
  return command.add_option("--effort", effort, "scale the number of cases (default: TALLY_EFFORT or 1)")
      ->check(above_zero());
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
