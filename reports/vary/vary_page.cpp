#include "reports/vary/vary_page.hpp"

#include <algorithm>

#include "reports/html/document.hpp"
#include "reports/html/table.hpp"
#include "reports/record/record_kinds.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t tensors_at_once = 12;

bool passes(const VaryReport& report) { return report.verdict == "pass"; }

Status status_of(const VaryReport& report) { return passes(report) ? Status::pass : Status::fail; }

std::string headline_of(const VaryReport& report) {
  if (report.partition.empty() && !passes(report)) return "the loop is wrong for any micro-batches";
  return passes(report) ? "the micro-batches match the whole batch"
                        : partition_text(report.partition) + " do not match the whole batch";
}

/// As the beginning of a sentence.
std::string sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + ".";
}

/// What stands between backticks is code.
void with_quoted_code(Markup& page, std::string_view text) {
  while (true) {
    const auto open = text.find('`'), close = text.find('`', open + 1);
    if (open == text.npos || close == text.npos) return page.text(text);
    page.text(text.substr(0, open));
    page.element("code", {}, text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

std::string loop_line(const VaryReport& report) {
  std::string text = report.loop.text;
  if (!report.loop.file.empty()) text += " in " + report.loop.file;
  if (!report.loop.file.empty() && report.loop.line > 0) text += ":" + std::to_string(report.loop.line);
  return text + ", " + counted(static_cast<std::uint64_t>(report.windows), "window") + " of " +
         counted(static_cast<std::uint64_t>(report.rows), "row");
}

void navigation(Markup& page, const VaryReport& report) {
  const auto nav = page.open("nav", {{"aria-label", "Sections"}});
  const auto list = page.open("ul");
  const auto link = [&page](const char* id, const char* text) {
    const auto item = page.open("li");
    page.element("a", {{"href", std::string("#") + id}}, text);
  };
  if (!report.gaps.empty()) link("partitions", "Partitions");
  if (!report.weights.found.empty()) link("weights", "Weights");
  if (!report.by_tensor().empty()) link("tensors", "Tensors");
  if (!report.notes.empty()) link("notes", "Notes");
  link("limits", "Limits");
  link("reading", "How to read");
}

void header(Markup& page, const VaryReport& report) {
  const auto header = page.open("header");
  page.element("p", {{"class", "eyebrow"}}, "Tally \u00B7 a loop against its own whole batch");
  {
    const auto box = page.open("div", {{"class", "verdict " + class_of(status_of(report))}});
    {
      const auto h1 = page.open("h1");
      page.element("span", {{"class", "word"}},
                   std::string(mark_of(status_of(report))) + " " + (passes(report) ? "PASS" : "FAIL"));
      page.text(" " + headline_of(report));
    }
    page.element("p", {{"class", passes(report) ? "" : "bad"}}, sentence(report.what));
    if (!report.change.empty()) {
      const auto line = page.open("p");
      page.element("strong", {}, "What to change: ");
      with_quoted_code(page, report.change + ".");
    }
    if (const std::string at = place_text(report.place); !at.empty()) {
      const auto line = page.open("p");
      with_quoted_code(page, "At " + at);
    }
    if (!report.numbers.empty()) page.element("p", {}, sentence(report.numbers));
    page.element("p", {{"class", "muted"}}, loop_line(report));
  }
  navigation(page, report);
  const auto bar = page.open("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "View"}});
  theme_radios(page);
}

/// By its sign and colour as well: what is rounding passes, what is none fails.
void kind_cell(Markup& page, Table::Row& row, const std::string& kind) {
  const Status status = kind == gap_kind::rounding     ? Status::pass
                        : kind == gap_kind::decision   ? Status::vacuous
                        : kind == gap_kind::not_judged ? Status::not_run
                        : kind == gap_kind::error      ? Status::error
                                                       : Status::fail;
  const auto cell = row.open("s " + class_of(status) + " tint-" + class_of(status));
  page.text(std::string(mark_of(status)) + " " + kind);
}

void partitions_section(Markup& page, const VaryReport& report) {
  if (report.gaps.empty()) return;
  const bool two = report.precisions.size() == 2;
  const auto section = page.open("section", {{"aria-labelledby", "partitions"}});
  page.element("h2", {{"id", "partitions"}}, "Partitions and precisions");
  page.element(
      "p", {},
      two ? "How far each ends from the whole batch in " + report.precisions.front() +
                ", relative to the tensor's largest element. Rounding shrinks with the precision: a ratio up to " +
                significant(report.boundary) + " is rounding."
          : "How far each ends from the whole batch, relative to the tensor's largest element.");
  std::vector<std::string> titles{"Rows of the micro-batches"};
  for (const std::string& precision : report.precisions) titles.push_back(">" + precision);
  if (two) titles.emplace_back(">Ratio");
  titles.insert(titles.end(), {"Differs by", "Tensor"});
  Table table(page, "Each partition against the whole batch", titles);
  for (const VaryGap& gap : report.gaps) {
    auto row = table.row();
    row.head(sizes_text(gap.sizes));
    const bool figures = !gap.tensor.empty();
    row.cell(figures ? distance_text(gap.in_high) : "");
    if (two) row.cell(figures ? distance_text(gap.in_low) : ""), row.cell(ratio_text(gap, report));
    kind_cell(page, row, gap.kind);
    const auto cell = row.open();
    if (!gap.tensor.empty()) page.element("code", {}, gap.tensor);
    if (!gap.error.empty()) page.element("small", {}, gap.error);
  }
}

void weights_section(Markup& page, const VaryReport& report) {
  const VaryWeights& weights = report.weights;
  if (weights.found.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "weights"}});
  page.element("h2", {{"id", "weights"}}, "Weights of the micro-batches");
  page.element("p", {},
               "The weight of a row of each micro-batch in the gradient of the step of window " +
                   std::to_string(weights.how.window) + ", found by least squares; " + significant(weights.rest) +
                   " of the gradient is not a sum of them.");
  {
    Table table(page, "Weights of a row, found and meant",
                {"Micro-batch", ">Rows", ">Found", ">Meant", ">Found / meant"});
    for (std::size_t k = 0; k < weights.found.size(); ++k) {
      auto row = table.row();
      row.head(std::to_string(k));
      row.cell(grouped(static_cast<std::uint64_t>(weights.rows()[k])));
      row.cell(significant(weights.found[k]));
      row.cell(significant(weights.meant[k]));
      row.cell(significant(weights.found[k] / weights.meant[k]));
    }
  }
  if (weights.terms.empty()) return;
  Table table(page, "Further terms", {"Term", ">Weight"});
  for (const VaryTerm& term : weights.terms) {
    auto row = table.row();
    row.head(term.name);
    row.cell(significant(term.weight));
  }
}

void tensor_rows(Markup& page, const std::string& caption, const VaryReport& report,
                 const std::vector<VaryTensorGap>& tensors, std::size_t from, std::size_t to) {
  std::vector<std::string> titles{"Tensor"};
  if (report.precisions.size() == 2) titles.push_back(">Largest in " + report.precisions.front());
  titles.push_back(">Drift in " + report.precisions.back());
  titles.insert(titles.end(), {">Noise", "Differs by"});
  Table table(page, caption, titles);
  for (std::size_t i = from; i < to; ++i) {
    auto row = table.row();
    row.head(tensors[i].name);
    if (report.precisions.size() == 2) row.cell(distance_text(tensors[i].in_high));
    row.cell(distance_text(tensors[i].in_low));
    row.cell(distance_text(tensors[i].noise));
    kind_cell(page, row, tensors[i].kind);
  }
}

void tensors_section(Markup& page, const VaryReport& report) {
  const std::vector<VaryTensorGap> tensors = report.by_tensor();
  if (tensors.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "tensors"}});
  page.element("h2", {{"id", "tensors"}}, "Gap and drift by tensor");
  page.element(
      "p", {},
      "The drift is the largest distance of any partition in " + report.precisions.back() +
          " that differs by rounding. Noise: the farthest that the whole batch ends with parameters and rows moved by "
          "half an ulp of it, or a partition that passed before; at least the format's unit.");
  const std::size_t first = std::min(tensors_at_once, tensors.size());
  tensor_rows(page, "The largest first", report, tensors, 0, first);
  if (first == tensors.size()) return;
  const auto details = page.open("details");
  page.element("summary", {}, "and " + counted(tensors.size() - first, "smaller one"));
  tensor_rows(page, "The rest", report, tensors, first, tensors.size());
}

void notes_section(Markup& page, const VaryReport& report) {
  if (report.notes.empty()) return;
  const auto section = page.open("section", {{"aria-labelledby", "notes"}});
  page.element("h2", {{"id", "notes"}}, "Notes");
  const auto list = page.open("ul");
  for (const std::string& note : report.notes) page.element("li", {}, sentence(note));
}

void limits_section(Markup& page, const VaryReport& report) {
  const auto section = page.open("section", {{"aria-labelledby", "limits"}});
  page.element("h2", {{"id", "limits"}}, "Limits");
  const auto list = page.open("ul");
  page.element("li", {}, "Errors that are the same in every partition were not tested.");
  page.element("li", {}, "Partitions, rows and windows that were not run are not judged.");
  page.element("li", {},
               report.precisions.size() == 2 ? "A gap below " + significant(report.boundary) + " of what " +
                                                   report.precisions.back() + " rounds counts as rounding."
                                             : "With one precision, a gap below what it rounds cannot be seen.");
}

void reading_section(Markup& page) {
  const auto section = page.open("section", {{"aria-labelledby", "reading"}});
  page.element("h2", {{"id", "reading"}}, "How to read this page");
  const auto list = page.open("dl");
  const auto term = [&page](const char* name, const char* meaning) {
    page.element("dt", {}, name);
    page.element("dd", {}, meaning);
  };
  term("whole batch",
       "The same loop on all rows of a window at once. It is the reference: no recipe is known or assumed.");
  term("rounding", "The distance shrinks with the precision, as far as the middle between the two formats' units.");
  term("meaning", "The distance is there in every precision: the loop computes something else.");
  term("decision",
       "A branch, a top-k or a sign that rounding turned: the distance is gone once everything is moved by half an "
       "ulp, or "
       "the whole batch itself turns with its last bits.");
  term("exit codes", "0 pass, 1 fail, 2 the runs cannot be judged, 4 runs are missing.");
}

void body(Markup& page, const VaryReport& report) {
  const auto open = page.open("body");
  page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
  header(page, report);
  {
    const auto main = page.open("main", {{"id", "main"}});
    partitions_section(page, report);
    weights_section(page, report);
    tensors_section(page, report);
    notes_section(page, report);
    limits_section(page, report);
    reading_section(page);
  }
  const auto footer = page.open("footer");
  page.element("p", {}, "Made by Tally from vary.json.");
}

}  // namespace

std::string vary_html(const VaryReport& report) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, std::string("Tally: ") + (passes(report) ? "PASS" : "FAIL") + "  " + headline_of(report));
    page.newline();
    body(page, report);
  }
  return out + '\n';
}

}  // namespace tally
