// `tally baseline show`, `diff` and `verify`: what is blessed, and what results would change.
#include <fnmatch.h>

#include <iostream>
#include <map>

#include "reports/census/census.hpp"
#include "reports/command_line/commands.hpp"
#include "reports/command_line/kernel_file.hpp"
#include "reports/command_line/stored.hpp"
#include "reports/gate/gate.hpp"
#include "reports/text/columns.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/stored_text.hpp"

namespace tally::command_line {
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

}  // namespace

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

int baseline_diff(const BaselineOptions& options) {
  const GateReport report = tally::gate(results_of(options.results), baseline_at(options.baseline));
  const Comparison& found = report.comparison;
  std::cout << gate_text(report, {{file_of, options.all}, ""});
  return found.equal == found.cases && found.gone + found.fresh == 0 ? pass : failed;
}

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

}  // namespace tally::command_line
