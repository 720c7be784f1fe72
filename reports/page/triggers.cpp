#include "reports/html/table.hpp"
#include "reports/page/reached.hpp"
#include "reports/page/sections.hpp"
#include "reports/record/reached.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

struct Shown {
  Status status;
  const char* text;
};

Shown shown_of(const TriggerRecord& trigger, bool required) {
  if (trigger.kind == "later") return {Status::not_run, "later"};
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
  row.cell(trigger.kind == "later" ? "\u2013" : grouped(trigger.seen));
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

}  // namespace tally
