// `tally baseline bless`: as `tally bless`, but everything at once only when asked for twice.
#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/bless.hpp"

namespace tally::command_line::baseline_bless_command {
namespace {

struct BaselineBlessOptions {
  BlessOptions bless;
  bool all = false, yes = false;
};

int baseline_bless(const BaselineBlessOptions& options) {
  const BlessOptions& what = options.bless;
  const bool filtered = what.law != "*" || what.precision != "*" || !what.cases.empty();
  if (filtered == options.all)
    throw UsageError("baseline bless: expected either --law, --precision or --case, or --all --yes");
  if (options.all && !options.yes)
    throw UsageError("baseline bless: --all accepts every change; expected --yes with it");
  return bless(what);
}

void add_options(CLI::App& command, BaselineBlessOptions& options) {
  add_change_with_reason(command, options.bless);
  command.add_flag("--all", options.all, "accept everything; wants --yes too");
  command.add_flag("--yes", options.yes, "do not refuse --all");
}

const RegisterCommand registered{{
    .place = 225,
    .name = "baseline bless",
    .help = "accept what the filters name",
    .bind = with_options(add_options, baseline_bless),
}};

}  // namespace
}  // namespace tally::command_line::baseline_bless_command
