// `tally bench`: Tally's rules beside others.
#include "reports/command_line/command.hpp"
#include "reports/command_line/lab/study.hpp"

namespace tally::command_line::bench_command {
namespace {

void add_options(CLI::App& command, StudyCommand& options) {
  options.family = "bench";
  add_study_options(command, options);
}

const RegisterCommand registered{{
    .place = 410,
    .name = "bench",
    .help = "measure Tally's own rules against others",
    .bind = with_options(add_options, study),
}};

}  // namespace
}  // namespace tally::command_line::bench_command
