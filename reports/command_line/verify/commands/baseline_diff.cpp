// `tally baseline diff`: what results would change in a baseline.
#include <iostream>

#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/baseline_options.hpp"
#include "reports/command_line/verify/kernel_file.hpp"
#include "reports/command_line/verify/shared_options.hpp"
#include "reports/command_line/verify/stored.hpp"
#include "reports/gate/gate.hpp"

namespace tally::command_line::baseline_diff_command {
namespace {

int baseline_diff(const BaselineOptions& options) {
  const GateReport report = tally::gate(results_of(options.results), baseline_at(options.baseline));
  const Comparison& found = report.comparison;
  std::cout << gate_text(report, {{file_of, options.all}, ""});
  return found.equal == found.cases && found.gone + found.fresh == 0 ? pass : failed;
}

void add_options(CLI::App& command, BaselineOptions& options) {
  add_results_and_baseline(command, options.results, options.baseline);
  add_all(command, options.all);
}

const RegisterCommand registered{{
    .place = 223,
    .name = "baseline diff",
    .help = "what results change; exit code 1 where they do",
    .bind = with_options(add_options, baseline_diff),
}};

}  // namespace
}  // namespace tally::command_line::baseline_diff_command
