// `tally baseline prune`: a baseline without what is gone.
#include "reports/command_line/command.hpp"
#include "reports/command_line/verify/bless.hpp"

namespace tally::command_line::baseline_prune_command {
namespace {

void add_options(CLI::App& command, BlessOptions& options) {
  options.change = tally::prune;
  add_change(command, options);
}

const RegisterCommand registered{{
    .place = 226,
    .name = "baseline prune",
    .help = "take out what the results do not have any more",
    .bind = with_options(add_options, bless),
}};

}  // namespace
}  // namespace tally::command_line::baseline_prune_command
