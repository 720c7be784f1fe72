// `tally sweep` and `tally bench`: one study, its document and its page.
#include "properties/studies/study.hpp"

#include <filesystem>
#include <iostream>

#include "reports/command_line/commands.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/progress.hpp"
#include "reports/command_line/run_words.hpp"
#include "reports/command_line/subject.hpp"
#include "reports/command_line/tree.hpp"
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
