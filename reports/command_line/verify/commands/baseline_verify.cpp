// `tally baseline verify`: whether a baseline is as Tally writes it.
#include <iostream>

#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/baseline_options.hpp"
#include "reports/command_line/verify/stored.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/stored_text.hpp"

namespace tally::command_line::baseline_verify_command {
namespace {

int baseline_verify(const BaselineOptions& options) {
  const Baseline baseline = baseline_at(options.baseline);
  Baseline sorted = baseline;
  put_in_order(sorted);
  if (to_json(sorted) != stored_text(options.baseline))
    throw UsageError(options.baseline +
                     ": found another order or spelling than Tally writes; it may have been merged "
                     "by hand: expected what `./tally baseline bless` leaves");
  std::cout << options.baseline << ": " << counted(baseline.cases.size(), "case") << ", "
            << counted(baseline.faults.size(), "fault") << ", " << counted(baseline.blessings.size(), "blessing")
            << "\n";
  return pass;
}

void add_options(CLI::App& command, BaselineOptions& options) { add_baseline(command, options.baseline); }

const RegisterCommand registered{{
    .place = 222,
    .name = "baseline verify",
    .help = "whether the file is whole, sorted and as Tally wrote it",
    .bind = with_options(add_options, baseline_verify),
}};

}  // namespace
}  // namespace tally::command_line::baseline_verify_command
