// `tally crew`: one rank of several processes that train cases together; a launcher of MPI starts it.
#include "reports/command_line/verify/crew.hpp"

#include "reports/command_line/command.hpp"

namespace tally::command_line::crew_command {
namespace {

const RegisterCommand registered{{
    .place = 190,
    .name = "crew",
    .help = "one rank of several processes that train cases together; a launcher of MPI starts it",
    .bind = with_options<CrewOptions>(
        [](CLI::App& command, CrewOptions& options) {
          command.add_option("--wait", options.seconds, "seconds that a rank waits for another")->check(above_zero());
          command.add_option("--answers", options.answers, "file for the first rank's answers (default: its output)");
          command.add_flag("--nccl", options.nccl, "sums by the library are NCCL's (default: MPI's)");
          command.add_option("--board", options.board, "file in which ranks note where they stand (default: none)");
        },
        run_crew),
}};

}  // namespace
}  // namespace tally::command_line::crew_command
