#include "reports/command_line/lab/study.hpp"

#include <filesystem>
#include <iostream>

#include "properties/lab/study.hpp"
#include "reports/command_line/check/run_words.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/subject.hpp"
#include "reports/study/study.hpp"

namespace tally::command_line {
namespace {

const StudyRunner& runner_of(const StudyCommand& command) {
  if (const StudyRunner* runner = find_study(command.family, command.name)) return *runner;
  std::string names;
  for (const StudyRunner* runner : studies(command.family)) names += (names.empty() ? "" : ", ") + runner->name;
  throw UsageError("no " + command.family + " is named '" + command.name + "'; there " +
                   (names.empty() ? "is none" : "are " + names));
}

StudyOptions options_of(const StudyCommand& command) {
  if (is_own_step(command.subject.subject))
    throw UsageError("--subject: a study asks Tally's own kernels; expected host, cuda or checked");
  StudyOptions options;
  options.subject = subject_of(command.subject);
  options.effort = effort_of(command.effort);
  options.seed = seed_of(command.seed);
  options.processes = command.processes;
  options.interrupted = &interruption();
  options.progress = show_progress;
  return options;
}

}  // namespace

void add_study_options(CLI::App& command, StudyCommand& options) {
  const std::string listed = options.family + (options.family == "bench" ? "es" : "s");
  add_subject(command, options.subject);
  command.add_option("name", options.name, "which one (./tally list " + listed + ")");
  add_effort(command, options.effort);
  add_seed(command, options.seed);
  add_out(command, options.out, "folder for NAME.json, NAME.html and NAME.md");
  add_processes(command, options.processes);
  command.add_flag("--json", options.json, "print the document instead of the tables");
}

int study(const StudyCommand& command) {
  const StudyRunner& runner = runner_of(command);
  const StudyOptions options = options_of(command);
  require_replaceable(command.out, {runner.name + ".json", runner.name + ".html", runner.name + ".md"});
  require_writable(command.out);
  Study found = run_study(runner, options);
  found.environment = environment_of(options.subject, command.subject);
  found.device = found.environment.device;
  found.tree = tree();
  write_study(found, command.out);
  if (command.json) {
    print_document(to_json(found));
  } else {
    std::cout << terminal_text(found)
              << "page: " << (std::filesystem::path(command.out) / (found.name + ".html")).string() << "\n";
  }
  return found.partial ? interrupted : exit_code_of(found);
}

}  // namespace tally::command_line
