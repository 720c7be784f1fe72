// `tally history`: what runs came to, one line each.
#include "reports/command_line/command.hpp"

namespace tally::command_line::history_command {
namespace {

const RegisterCommand registered{{
    .place = 240,
    .name = "history",
    .help = "a file of what runs came to, one line each",
}};

}  // namespace
}  // namespace tally::command_line::history_command
