// `tally baseline tighten`: a baseline of what became better.
#include "reports/command_line/command.hpp"
#include "reports/command_line/verify/bless.hpp"

namespace tally::command_line::baseline_tighten_command {
namespace {

void add_options(CLI::App& command, BlessOptions& options) {
  options.change = tally::tighten;
  add_change_with_reason(command, options);
}

const RegisterCommand registered{{
    .place = 227,
    .name = "baseline tighten",
    .help = "accept what became better alone",
    .bind = with_options(add_options, bless),
}};

}  // namespace
}  // namespace tally::command_line::baseline_tighten_command
