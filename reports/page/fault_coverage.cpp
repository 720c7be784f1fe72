#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/text/fault_words.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/replay.hpp"

namespace tally {
namespace {

void formulas(Markup& page, Table::Row& row, const FaultRecord& fault) {
  const auto cell = row.open();
  if (!fault.right.empty()) {
    page.text("right ");
    page.element("code", {{"class", "long"}}, fault.right);
    page.empty("br", {});
  }
  if (!fault.wrong.empty()) {
    page.text("wrong ");
    page.element("code", {{"class", "long"}}, fault.wrong);
  }
  page.element("small", {}, fault.source);
}

void where_found(Markup& page, Table::Row& row, const FaultRecord& fault) {
  const auto cell = row.open();
  if (!fault.caught) return page.text("\u2013");
  page.text(fault.found_stage.empty() ? "no stage named" : fault.found_stage);
  page.element("small", {}, fault.right_stage ? "\u2713 where it was planted" : "planted in " + fault.stage);
}

/// A power of two of the bug as it shipped, and what it scales.
void how_little(Markup& page, Table::Row& row, const FaultRecord& fault) {
  const auto cell = row.open();
  page.text(smallest_caught_word(fault));
  if (!fault.knob.empty()) page.element("small", {}, "knob: " + fault.knob);
  if (fault.magnitude != 1) page.element("small", {}, "planted at " + significant(fault.magnitude));
}

}  // namespace

void fault_coverage_section(Markup& page, const Results& results) {
  if (results.faults.empty() && results.laws.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "fault-coverage"}});
  page.element("h2", {{"id", "fault-coverage"}}, "Fault coverage");
  if (results.faults.empty())
    return page.element("p", {{"class", "warn"}},
                        "\u2013 No fault was planted in this run, so it does not show that its laws can fail by more "
                        "than their controls. ./tally faults runs them all.");
  std::size_t caught = 0;
  for (const FaultRecord& fault : results.faults) caught += fault.caught;
  page.element("p", {},
               "Bugs planted on purpose. " + std::to_string(caught) + " of " + std::to_string(results.faults.size()) +
                   " were caught. The smallest caught is the share of a bug, a power of two, that the law still sees "
                   "in one of a few cases.");
  Table table(page, "Seeded faults, the law that caught each and the stage it was found in",
              {"Verdict", "Fault", "Formulas", "Caught by law", "Found in stage", "Smallest caught", "Replay"});
  for (const FaultRecord& fault : results.faults) {
    auto row = table.row(fault.caught ? "pass" : "fail", anchor("fault-", fault.name));
    {
      const auto cell = row.open(fault.caught ? "s pass" : "s fail");
      page.text(fault.caught ? "\u2713 caught" : "\u2717 MISSED");
    }
    {
      const auto cell = row.open();
      page.element("strong", {}, fault.name);
      page.element("small", {}, fault.message);
    }
    formulas(page, row, fault);
    row.cell(fault.caught ? fault.law : "\u2013");
    where_found(page, row, fault);
    how_little(page, row, fault);
    row.code(replay_command(fault, results.environment));
  }
}

}  // namespace tally
