// `tally history`: what runs came to, one line each; a line added, all lines shown.
#include "reports/history/history.hpp"

#include <iostream>

#include "reports/command_line/command.hpp"
#include "reports/command_line/output.hpp"
#include "reports/command_line/verify/baseline.hpp"

namespace tally::command_line::history_command {
namespace {

const RegisterCommand registered{{
    .place = 240,
    .name = "history",
    .help = "a history file of runs, one line for each",
}};

}  // namespace
}  // namespace tally::command_line::history_command

// `tally history add`: a line for a run.
namespace tally::command_line::history_add_command {
namespace {

struct HistoryAddOptions {
  std::string history, results, commit;
};

int history_add(const HistoryAddOptions& options) {
  if (!options.history.ends_with(".jsonl"))
    throw UsageError("--history: '" + options.history + "'; expected a name that ends in .jsonl");
  const Results results = results_of(options.results);
  try {
    const bool added =
        append(history_entry_of(results, options.commit.empty() ? tree() : options.commit), options.history);
    std::cout << options.history << (added ? ": added\n" : ": stands there already\n");
  } catch (const NotWritten&) {
    throw;
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  return pass;
}

void add_options(CLI::App& command, HistoryAddOptions& options) {
  command.add_option("results", options.results, "results.json of a run")->required();
  command.add_option("--history", options.history, "history file, NAME.jsonl")->required();
  command.add_option("--commit", options.commit, "commit of the run (default: this program's)");
}

const RegisterCommand registered{{
    .place = 241,
    .name = "history add",
    .help = "add a run; one that stands there already is not added again",
    .bind = with_options(add_options, history_add),
}};

}  // namespace
}  // namespace tally::command_line::history_add_command

// `tally history show`: all runs as a table.
namespace tally::command_line::history_show_command {
namespace {

struct HistoryShowOptions {
  std::string history;
};

int history_show(const HistoryShowOptions& options) {
  std::cout << history_text(history_at(options.history));
  return pass;
}

void add_options(CLI::App& command, HistoryShowOptions& options) {
  command.add_option("history", options.history, "history file, NAME.jsonl")->required();
}

const RegisterCommand registered{{
    .place = 242,
    .name = "history show",
    .help = "all runs as a table",
    .bind = with_options(add_options, history_show),
}};

}  // namespace
}  // namespace tally::command_line::history_show_command
