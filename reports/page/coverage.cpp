// What the run could have caught: seeded faults, triggers, launch paths and options.
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/record/record_kinds.hpp"
#include "reports/record/triggers.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

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

namespace {

struct Shown {
  Status status;
  const char* text;
};

Shown shown_of(const TriggerRecord& trigger, bool required) {
  if (trigger.kind == trigger_kind::later) return {Status::not_run, "later"};
  if (is_seen_by_few(trigger)) return {Status::pass, "seen by few"};
  if (trigger.seen > 0) return {Status::pass, "seen"};
  return {required ? Status::fail : Status::not_run, "NOT SEEN"};
}

void trigger_row(Markup& page, Table& table, const TriggerRecord& trigger, bool required) {
  const Shown shown = shown_of(trigger, required);
  auto row = table.row(class_of(shown.status), anchor("trigger-", trigger.name));
  {
    const auto cell = row.open("s " + std::string(class_of(shown.status)));
    page.text(std::string(mark_of(shown.status)) + " " + shown.text);
  }
  row.cell(trigger.group);
  {
    const auto cell = row.open();
    page.element("strong", {}, trigger.name);
    if (!trigger.description.empty()) page.element("small", {}, trigger.description);
  }
  row.cell(trigger.kind);
  row.cell(trigger.kind == trigger_kind::later ? "\u2013" : grouped(trigger.seen));
}

void unseen_pairs(Markup& page, const PairsRecord& pairs) {
  if (const std::string counted = pairs_sentence(pairs); !counted.empty())
    page.element(
        "p", {},
        "A setting is a kind, a value of an option or a word; pairs of them count where one run showed both. " +
            counted + ".");
  if (pairs.unseen.empty()) return;
  Table table(page, "Pairs that rules allow and no run showed", {"Pair"});
  for (const std::string& pair : pairs.unseen) table.row().cell(pair);
}

}  // namespace

void triggers_section(Markup& page, const Results& results) {
  if (results.triggers.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "triggers"}});
  page.element("h2", {{"id", "triggers"}}, "Triggers");
  page.element(
      "p", {},
      "A trigger is what a case must show before a known kind of bug can be seen in it, somewhere in the "
      "campaign. Launch paths are counted for each kernel, variant and precision by themselves, as the kernel's "
      "launch declares them; values of options as their contract makes them. " +
          trigger_sentence(results.triggers) + ".");
  const bool required = triggers_are_missing(results);
  {
    Table table(page, "Every trigger and the number of cases that showed it",
                {"Verdict", "Group", "Trigger", "Kind", ">Times seen"});
    for (const TriggerRecord& trigger : results.triggers)
      if (!is_made_from_the_program(trigger)) trigger_row(page, table, trigger, required);
  }
  reached_tables(page, results);
  unseen_pairs(page, results.pairs);
}

namespace {

std::string counted_items(const ReachedRow& row, bool seen) {
  std::string text;
  for (const ReachedRow::Item& item : row.items) {
    if ((item.seen > 0) != seen || !item.out_of_reach.empty()) continue;
    text += (text.empty() ? "" : "; ") + item.name + (seen ? " (" + grouped(item.seen) + ")" : "");
  }
  return text;
}

std::string out_of_reach(const ReachedRow& row) {
  std::string text;
  for (const ReachedRow::Item& item : row.items) {
    if (!item.out_of_reach.empty()) text += (text.empty() ? "" : "; ") + item.name + ": " + item.out_of_reach;
  }
  return text;
}

void reached_row(Markup& page, Table& table, const ReachedRow& found, bool required) {
  const bool all = found.seen() == found.wanted();
  const Status status = all ? Status::pass : required ? Status::fail : Status::not_run;
  auto row = table.row(class_of(status), anchor("reached-", found.group + " " + found.name));
  {
    const auto cell = row.open("s " + std::string(class_of(status)));
    page.text(std::string(mark_of(status)) + " " + std::to_string(found.seen()) + " of " +
              std::to_string(found.wanted()));
  }
  row.cell(found.group);
  row.cell(found.name.empty() ? "\u2013" : found.name);
  {
    const auto cell = row.open();
    page.text(counted_items(found, true));
    if (!all) page.element("small", {}, "NOT SEEN: " + counted_items(found, false));
    if (const std::string later = out_of_reach(found); !later.empty())
      page.element("small", {}, "out of reach: " + later);
  }
}

void reached_table(Markup& page, const std::vector<ReachedRow>& rows, const std::string& caption,
                   const std::vector<std::string>& titles, bool required) {
  if (rows.empty()) return;
  Table table(page, caption, titles);
  for (const ReachedRow& row : rows) reached_row(page, table, row, required);
}

}  // namespace

void reached_tables(Markup& page, const Results& results) {
  const bool required = triggers_are_missing(results);
  reached_table(page, reached_rows(results.triggers, "path"),
                "Every kernel in each of its precisions, and the ways its launches went (cases of each)",
                {"Reached", "Kernel", "Precision", "Ways"}, required);
  reached_table(page, reached_rows(results.triggers, "setting"),
                "Every kind of layer, loss and recipe section, and every word of ranks (cases of each)",
                {"Reached", "Of", "Name", "Drawn"}, required);
  reached_table(page, reached_rows(results.triggers, "option"), "Every option, and the values it took (cases of each)",
                {"Reached", "Of", "Option", "Values"}, required);
  reached_table(page, reached_rows(results.triggers, "size"),
                "Every size that code depends on, and the values it took around the edges (cases of each)",
                {"Reached", "Of", "Size", "Values"}, required);
}

}  // namespace tally
