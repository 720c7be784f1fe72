// Changes of a baseline, with a reason: what `tally bless` and the commands of `tally baseline` that write have in
// common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "reports/gate/bless.hpp"

namespace tally::command_line {

struct BlessOptions {
  std::string results, baseline, reason, commit;
  std::string law = "*", precision = "*";
  std::vector<std::string> cases;
  bool allow_ci = false;
  BlessReport (*change)(const Results&, const std::string&, const tally::BlessOptions&) = tally::bless;
};

/// All of its options but for --reason and --commit.
void add_change(CLI::App& command, BlessOptions& options);
void add_change_with_reason(CLI::App& command, BlessOptions& options);

int bless(const BlessOptions& options);

}  // namespace tally::command_line
