// A study, rendered: page, Markdown, terminal.
#include "reports/study/study.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "reports/html/document.hpp"
#include "reports/html/plot.hpp"
#include "reports/html/table.hpp"
#include "reports/page/sections.hpp"
#include "reports/record/files.hpp"
#include "reports/summary/summary.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

bool is_whole(double value) { return std::trunc(value) == value && std::fabs(value) <= 0x1p53; }

std::string whole(double value) {
  const std::string digits = grouped(static_cast<std::uint64_t>(std::fabs(value)));
  return value < 0 ? "\u2212" + digits : digits;
}

}  // namespace

bool holds_numbers(const StudyColumn& column) { return !column.numbers.empty(); }

std::size_t rows_of(const StudyTable& table) {
  std::size_t rows = 0;
  for (const StudyColumn& column : table.columns) rows = std::max({rows, column.words.size(), column.numbers.size()});
  return rows;
}

std::vector<std::string> cells_of(const StudyColumn& column) {
  if (!holds_numbers(column)) return column.words;
  const bool all_whole = std::all_of(column.numbers.begin(), column.numbers.end(), is_whole);
  std::vector<std::string> cells;
  for (const double value : column.numbers) {
    cells.push_back(all_whole ? whole(value) : std::isnan(value) ? "\u2013" : significant(value));
  }
  return cells;
}

std::vector<std::string> titles_of(const StudyTable& table) {
  std::vector<std::string> titles;
  for (const StudyColumn& column : table.columns) titles.push_back((holds_numbers(column) ? ">" : "") + column.name);
  return titles;
}

void study_table(Markup& page, const StudyTable& shown, std::size_t rows_at_most) {
  page.element("h3", {}, shown.title);
  std::vector<std::vector<std::string>> cells;
  for (const StudyColumn& column : shown.columns) cells.push_back(cells_of(column));
  Table table(page, shown.note.empty() ? shown.title : shown.note, titles_of(shown));
  const std::size_t rows = rows_of(shown), kept = std::min(rows, rows_at_most);
  for (std::size_t i = 0; i < kept; ++i) {
    auto row = table.row();
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::string text = i < cells[k].size() ? cells[k][i] : "";
      k == 0 ? row.head(text) : row.cell(text);
    }
  }
  if (kept < rows) table.row().head("and " + grouped(rows - kept) + " more, in the study's own page");
}

std::string origin_of(const Study& study) {
  const Environment& e = study.environment;
  std::string text = "Measured by tally " + study.family + " " + study.name + ", seed " + std::to_string(study.seed) +
                     ", effort " + shortest(study.effort);
  for (const std::string& part : {study.device, e.compiler, e.flags})
    if (!part.empty()) text += ", " + part;
  text += "; Tally " + (e.tally_version.empty() ? "of unknown version" : e.tally_version);
  return text + (study.tree.empty() ? ", commit not recorded" : ", commit " + study.tree);
}

// The page of a study.
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

namespace {

std::string markdown_table(const StudyTable& table) {
  std::string head = "|", rule = "|", body;
  std::vector<std::vector<std::string>> cells;
  for (const StudyColumn& column : table.columns) {
    head += " " + markdown(column.name) + " |";
    rule += holds_numbers(column) ? "---:|" : "---|";
    cells.push_back(cells_of(column));
  }
  for (std::size_t i = 0; i < rows_of(table); ++i) {
    body += "|";
    for (const auto& column : cells) body += " " + (i < column.size() ? markdown(column[i]) : "") + " |";
    body += "\n";
  }
  const std::string note = table.note.empty() ? "" : markdown(table.note) + "\n\n";
  return "### " + markdown(table.title) + "\n\n" + note + head + "\n" + rule + "\n" + body + "\n";
}

}  // namespace

std::string study_markdown(const Study& study) {
  std::string out = "## " + markdown(study.question) + "\n\n**" + mark_and_word(study.status) + "** " +
                    markdown(study.answer) + "\n\n";
  if (!study.message.empty()) out += markdown(study.message) + "\n\n";
  if (study.partial) out += "**Incomplete: interrupted.**\n\n";
  for (const StudyTable& table : study.tables) out += markdown_table(table);
  for (const std::string& note : study.notes) out += "- " + markdown(note) + "\n";
  if (!study.notes.empty()) out += "\n";
  return out + markdown(study.family + " " + study.name) + ", seed " + std::to_string(study.seed) + ", effort " +
         shortest(study.effort) + (study.device.empty() ? "" : ", " + markdown(study.device)) + ".\n";
}

namespace {

constexpr std::size_t most_rows = 30;

std::string table_text(const StudyTable& table) {
  std::vector<std::vector<std::string>> rows = {titles_of(table)};
  const std::size_t shown = std::min(rows_of(table), most_rows);
  rows.resize(1 + shown, std::vector<std::string>(table.columns.size()));
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const auto cells = cells_of(table.columns[k]);
    for (std::size_t i = 0; i < std::min(shown, cells.size()); ++i) rows[i + 1][k] = cells[i];
  }
  const std::string more =
      rows_of(table) > shown ? "  and " + counted(rows_of(table) - shown, "more row") + " in the page\n" : "";
  return "\n" + one_line(table.title) + "\n" + columns(rows) + more;
}

}  // namespace

std::string terminal_text(const Study& study) {
  std::string out =
      one_line(study.question) + "\n" + mark_and_word(study.status) + "  " + one_line(study.answer) + "\n";
  if (!study.message.empty()) out += "  " + one_line(study.message) + "\n";
  if (study.partial) out += "  incomplete: interrupted\n";
  for (const StudyTable& table : study.tables) out += table_text(table);
  return out;
}

void write_study(const Study& study, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw std::runtime_error("cannot write the study to " + folder.string() + ": " +
                             (error ? error.message() : "it is not a folder"));
  write_together({{(folder / (study.name + ".json")).string(), to_json(study)},
                  {(folder / (study.name + ".html")).string(), study_html(study)},
                  {(folder / (study.name + ".md")).string(), study_markdown(study)}});
}

int exit_code_of(const Study& study) {
  switch (study.status) {
    case Status::pass:
      return 0;
    case Status::fail:
      return 1;
    case Status::error:
      return 3;
    default:
      return 4;
  }
}

}  // namespace tally
