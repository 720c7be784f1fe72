// `tally sweep`: drift against one quantity.
#include "reports/command_line/command.hpp"
#include "reports/command_line/lab/study.hpp"

namespace tally::command_line::sweep_command {
namespace {

void add_options(CLI::App& command, StudyCommand& options) {
  options.family = "sweep";
  add_study_options(command, options);
}

const RegisterCommand registered{{
    .place = 400,
    .name = "sweep",
    .help = "study how far gradients drift against one quantity",
    .bind = with_options(add_options, study),
}};

}  // namespace
}  // namespace tally::command_line::sweep_command
