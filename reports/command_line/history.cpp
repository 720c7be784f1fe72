// `tally history`: what runs came to, one line each.
#include "reports/history/history.hpp"

#include <iostream>

#include "reports/command_line/commands.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/command_line/tree.hpp"

namespace tally::command_line {

int history_add(const HistoryOptions& options) {
  if (!options.history.ends_with(".jsonl"))
    throw UsageError("--history: '" + options.history + "'; expected a name that ends in .jsonl");
  const Results results = results_of(options.results);
  try {
    const bool added =
        append(history_entry_of(results, options.commit.empty() ? tree() : options.commit), options.history);
    std::cout << options.history << (added ? ": added\n" : ": stands there already\n");
  } catch (const std::runtime_error& problem) {
    throw UsageError(problem.what());
  }
  return pass;
}

int history_show(const HistoryOptions& options) {
  std::cout << history_text(history_at(options.history));
  return pass;
}

}  // namespace tally::command_line
