// Studies inside a run's page, and what the run was made with.
#include <algorithm>

#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/study/study.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

void figures(Markup& page, const Study& study, const std::string& id) {
  if (study.plots.empty()) return;
  const auto grid = page.open("div", {{"class", "studies"}});
  for (std::size_t i = 0; i < study.plots.size(); ++i)
    study_figure(page, id + "-plot-" + std::to_string(i), study.plots[i]);
}

/// The rows of a folded table: the whole stands in the study's own page and file.
constexpr std::size_t rows_of_folded = 40;

void folded_study(Markup& page, const Study& study) {
  if (study.tables.size() > 1) {
    const auto details = page.open("details");
    page.element("summary", {}, "All tables of this study");
    for (std::size_t i = 1; i < study.tables.size(); ++i) study_table(page, study.tables[i], rows_of_folded);
  }
  if (study.notes.empty()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "Notes of this study");
  const auto list = page.open("ul");
  for (const std::string& note : study.notes) page.element("li", {}, note);
}

void section(Markup& page, const Results& results, const char* id, const char* title, const char* name,
             const char* introduction) {
  if (!has_study(results, "bench", name)) return;
  const auto open = page.open("section", {{"aria-labelledby", id}});
  page.element("h2", {{"id", id}}, title);
  page.element("p", {}, introduction);
  for (std::size_t i = 0; i < results.studies.size(); ++i)
    if (results.studies[i].family == "bench" && results.studies[i].name == name)
      study_part(page, results.studies[i], std::string(id) + "-" + std::to_string(i));
}

}  // namespace

bool has_study(const Results& results, const std::string& family, const std::string& name) {
  return std::any_of(results.studies.begin(), results.studies.end(), [&](const Study& study) {
    return study.family == family && (name.empty() || study.name == name);
  });
}

void study_part(Markup& page, const Study& study, const std::string& id) {
  page.element("h3", {{"id", id}}, study.question);
  {
    const auto p = page.open("p");
    page.element("strong", {{"class", "s " + class_of(study.status)}}, mark_and_word(study.status));
    page.text(" " + study.answer);
  }
  if (!study.message.empty()) page.element("p", {}, study.message);
  page.element("p", {{"class", "muted"}},
               origin_of(study) + ". Not measured by this run." + (study.partial ? " Incomplete: interrupted." : ""));
  if (!study.tables.empty()) study_table(page, study.tables.front());
  figures(page, study, id);
  folded_study(page, study);
}

void rules_section(Markup& page, const Results& results) {
  section(page, results, "rules", "Rules", "rules",
          "How published tolerance rules judge the same runs, clean and with seeded faults. A rule that passes faults "
          "is blind to them; one that rejects clean runs cries wolf.");
}

void evidence_section(Markup& page, const Results& results) {
  section(page, results, "evidence", "Evidence", "tolerances",
          "Whether the bounds hold and are tight: clean runs that they reject would be false alarms, and an r far "
          "below 1 throughout would be a bound that catches little.");
  section(page, results, "reached", "Branches and loops", "coverage",
          "What of the kernels and of the training step no case of the default campaign goes through: bugs live there "
          "unseen.");
  section(page, results, "excess", "Usual excess", "excess",
          "How much of their bounds right kernels use beyond the last rounding: what the ranks of this page are read "
          "from.");
}

void gate_section(Markup& page, const Results& results) {
  section(
      page, results, "gate", "How far the gate can be trusted", "gate",
      "Whether tally gate can be trusted: it must stay open to builds that are equal, and close where the errors of "
      "a kernel have grown.");
}

namespace {

void facts(Markup& page, const Results& results) {
  const Environment& e = results.environment;
  Table table(page, "What this run was made with", {"Part", "Value"});
  const auto fact = [&table](const char* name, const std::string& value) {
    auto row = table.row();
    row.head(name);
    row.cell(value.empty() ? "\u2013" : value);
  };
  fact("Tally", e.tally_version);
  fact("Executor", e.executor);
  fact("Device", e.device);
  fact("Compiler", e.compiler);
  fact("Flags", e.flags);
  fact("CUDA", e.cuda);
  fact("BLAS", e.blas);
  if (!e.fault.empty())
    fact("Bug planted on purpose", e.fault + (e.magnitude == 1 ? "" : " at " + shortest(e.magnitude)));
  for (const std::string& kernel : e.kernels) fact("In place of a shipped kernel", kernel);
  fact("Campaign", results.campaign);
  fact("Seed", std::to_string(results.seed));
  fact("Effort", shortest(results.effort));
}

}  // namespace

void environment_section(Markup& page, const Results& results) {
  const auto section = page.open("section", {{"aria-labelledby", "environment"}});
  page.element("h2", {{"id", "environment"}}, "Environment");
  facts(page, results);
}

void ledger_section(Markup& page, const Results& results) {
  if (results.environment.ledger.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "ledger"}});
  page.element("h2", {{"id", "ledger"}}, "Ledger");
  page.element("p", {}, "What the bounds take for granted, and what was found to hold here.");
  Table table(page, "Assumptions of the bounds", {"Assumption", "Here"});
  for (const auto& [assumption, holds] : results.environment.ledger) {
    auto row = table.row();
    row.head(assumption);
    row.cell(holds);
  }
}

}  // namespace tally
