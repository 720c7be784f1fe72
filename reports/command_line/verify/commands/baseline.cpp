// `tally baseline`: what its commands are about.
#include "reports/command_line/command.hpp"

namespace tally::command_line::baseline_command {
namespace {

const RegisterCommand registered{{
    .place = 220,
    .name = "baseline",
    .help = "look at a baseline, hold results beside it, change it",
}};

}  // namespace
}  // namespace tally::command_line::baseline_command
