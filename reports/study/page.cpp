// The page of a study.
#include "reports/html/document.hpp"
#include "reports/html/figure.hpp"
#include "reports/page/sections.hpp"
#include "reports/study/parts.hpp"
#include "reports/study/study.hpp"
#include "reports/text/numbers.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

void header(Markup& page, const Study& study) {
  const auto open = page.open("header");
  page.element("p", {{"class", "eyebrow"}},
               "Tally \u00B7 " + study.family + " " + study.name + " \u00B7 seed " + std::to_string(study.seed) +
                   ", effort " + shortest(study.effort) + (study.device.empty() ? "" : " \u00B7 " + study.device));
  page.element("h1", {}, study.question);
  {
    const auto box = page.open("div", {{"class", "verdict " + class_of(study.status)}});
    {
      const auto p = page.open("p");
      page.element("strong", {{"class", "word"}}, mark_and_word(study.status));
      page.text(study.answer);
    }
    if (!study.message.empty()) page.element("p", {}, study.message);
    if (study.partial)
      page.element("p", {{"class", "warn"}}, "\u203C Incomplete: interrupted. What was found until then stands here.");
  }
  const auto bar = page.open("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "View"}});
  theme_radios(page);
}

void plots(Markup& page, const Study& study) {
  if (study.plots.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "plots"}});
  page.element("h2", {{"id", "plots"}}, "Plots");
  const auto grid = page.open("div", {{"class", "studies"}});
  for (std::size_t i = 0; i < study.plots.size(); ++i) {
    page.newline();
    study_figure(page, "plot-" + std::to_string(i), study.plots[i]);
  }
}

void tables(Markup& page, const Study& study) {
  if (study.tables.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "tables"}});
  page.element("h2", {{"id", "tables"}}, "Tables");
  for (const StudyTable& table : study.tables) study_table(page, table);
}

void notes(Markup& page, const Study& study) {
  if (study.notes.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "notes"}});
  page.element("h2", {{"id", "notes"}}, "Notes");
  const auto list = page.open("ul");
  for (const std::string& note : study.notes) page.element("li", {}, note);
}

/// The environment section of a campaign's page, for this study.
void environment(Markup& page, const Study& study) {
  Results made;
  made.campaign = study.family + " " + study.name;
  made.seed = study.seed;
  made.effort = study.effort;
  made.environment = study.environment;
  environment_section(page, made);
  ledger_section(page, made);
}

}  // namespace

std::string study_html(const Study& study) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + study.family + " " + study.name);
    page.newline();
    const auto body = page.open("body");
    page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
    header(page, study);
    const auto main = page.open("main", {{"id", "main"}});
    plots(page, study);
    tables(page, study);
    notes(page, study);
    environment(page, study);
    page.element("p", {{"class", "muted"}},
                 "Every number of this page, in full precision, is in " + study.name + ".json beside it.");
  }
  return out + '\n';
}

}  // namespace tally
