// `tally bless`: results as the new baseline.
#include "reports/command_line/command.hpp"
#include "reports/command_line/verify/baseline.hpp"

namespace tally::command_line::bless_command {
namespace {

const RegisterCommand registered{{
    .place = 210,
    .name = "bless",
    .help = "make results the new baseline, with a reason",
    .bind = with_options(add_change_with_reason, bless),
}};

}  // namespace
}  // namespace tally::command_line::bless_command
