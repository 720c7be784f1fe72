// `tally history show`: all runs as a table.
#include <iostream>

#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/stored.hpp"
#include "reports/history/history.hpp"

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
