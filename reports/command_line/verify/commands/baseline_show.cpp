// `tally baseline show`: what is blessed.
#include <fnmatch.h>

#include <iostream>
#include <map>

#include "reports/census/census.hpp"
#include "reports/command_line/command.hpp"
#include "reports/command_line/exit_codes.hpp"
#include "reports/command_line/verify/baseline_options.hpp"
#include "reports/command_line/verify/stored.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"

namespace tally::command_line::baseline_show_command {
namespace {

struct Row {
  std::uint64_t cases = 0, vacuous = 0;
  double worst = 0;
};

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string blessings_text(const Baseline& baseline) {
  std::vector<std::vector<std::string>> rows{{"Blessing", "Commit", "Machine", "Campaign", ">Cases", "Reason"}};
  for (const Blessing& b : baseline.blessings) {
    std::uint64_t cases = 0;
    for (const BlessedCase& c : baseline.cases) cases += c.blessing == b.key;
    rows.push_back(
        {b.key, b.commit, b.machine.device + "; " + b.machine.toolchain,
         b.drawn.campaign + ", seed " + std::to_string(b.drawn.seed) + ", effort " + shortest(b.drawn.effort),
         grouped(cases), b.reason});
  }
  return columns(rows);
}

int baseline_show(const BaselineOptions& options) {
  const Baseline baseline = baseline_at(options.baseline);
  std::map<std::pair<std::string, std::string>, Row> groups;
  for (const BlessedCase& c : baseline.cases) {
    if (!matches(options.law, c.law) || !matches(options.precision, c.precision)) continue;
    Row& row = groups[{c.law, c.precision}];
    ++row.cases, row.vacuous += c.status == Status::vacuous;
    if (ratio_is_worse(c.worst_ratio, row.worst)) row.worst = c.worst_ratio;
  }
  if (groups.empty())
    throw UsageError("baseline show: nothing matches law '" + options.law + "' and precision '" + options.precision +
                     "'");
  std::vector<std::vector<std::string>> rows{{"Law", "Precision", ">Cases", ">Vacuous", ">Worst r"}};
  for (const auto& [place, row] : groups)
    rows.push_back({place.first, place.second, grouped(row.cases), grouped(row.vacuous), significant(row.worst)});
  std::cout << blessings_text(baseline) << "\n"
            << columns(rows) << "\n"
            << counted(baseline.faults.size(), "seeded fault") << " caught\n";
  return pass;
}

void add_options(CLI::App& command, BaselineOptions& options) {
  add_baseline(command, options.baseline);
  add_filters(command, options.law, options.precision);
}

const RegisterCommand registered{{
    .place = 221,
    .name = "baseline show",
    .help = "what is blessed, since which commit, and why",
    .bind = with_options(add_options, baseline_show),
}};

}  // namespace
}  // namespace tally::command_line::baseline_show_command
