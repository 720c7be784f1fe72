#include "reports/operations/operations_page.hpp"

#include <algorithm>

#include "reports/html/document.hpp"
#include "reports/html/table.hpp"
#include "reports/operations/operations_words.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

constexpr std::size_t failures_at_once = 10;

Status status_of(const JudgedRecording& judged) {
  if (judged.all.failed > 0) return Status::fail;
  return judged.all.held > 0 ? Status::pass : Status::not_run;
}

std::string whole(std::int64_t count) { return grouped(static_cast<std::uint64_t>(count)); }

void navigation(Markup& page, const JudgedRecording& judged) {
  const auto nav = page.open("nav", {{"aria-label", "Sections"}});
  const auto list = page.open("ul");
  const auto link = [&page](const char* id, const char* text) {
    const auto item = page.open("li");
    page.element("a", {{"href", std::string("#") + id}}, text);
  };
  if (!judged.failures.empty()) link("first", "First failure");
  if (judged.failures.size() > 1) link("further", "Other failures");
  if (judged.first_non_finite) link("non-finite", "First infinities");
  if (!judged.by_operation.empty()) link("kinds", "Operations");
  if (!judged.by_module.empty()) link("modules", "Modules");
  if (!judged.by_phase.empty()) link("phases", "Phases");
  if (!judged.not_judged.empty()) link("open", "Not judged");
  if (!judged.unseen.empty()) link("unseen", "Not seen");
  link("profile", "Held to");
  link("reading", "How to read");
}

void counts(Markup& page, const JudgedRecording& judged) {
  const auto list = page.open("ul", {{"class", "chips"}});
  const auto chip = [&page](std::int64_t n, Status status, const std::string& text) {
    const auto item = page.open("li");
    page.element("span", {{"class", n > 0 ? "s " + class_of(status) : "muted"}},
                 std::string(mark_of(status)) + " " + whole(n) + " " + text);
  };
  chip(judged.all.failed, Status::fail, "failed");
  chip(judged.all.held - judged.all.failed, Status::pass, "passed");
  chip(judged.all.not_judged, Status::not_run, "not judged");
  page.element("li", {}, whole(judged.all.nothing) + " with nothing to hold");
}

void header(Markup& page, const JudgedRecording& judged, const std::string& folder) {
  const auto header = page.open("header");
  page.element("p", {{"class", "eyebrow"}}, "Tally \u00B7 recorded operations, each against its exact result");
  {
    const Status status = status_of(judged);
    const auto [word, sentence] = verdict_of(judged);
    const auto box = page.open("div", {{"class", "verdict " + class_of(status)}});
    {
      const auto h1 = page.open("h1");
      page.element("span", {{"class", "word"}}, std::string(mark_of(status)) + " " + word);
      page.text(" " + sentence);
    }
    if (!judged.failures.empty())
      page.element("p", {{"class", "bad"}}, "First: " + place_text(judged.failures.front().place) + ".");
    if (may_be_by_design(judged))
      page.element("p", {{"class", "warn"}},
                   "Held to the standard profile, as nothing is known of " + judged.header.profile +
                       ": what fails by so little may be less precise by design.");
    counts(page, judged);
    for (const std::string& open : open_ends(judged)) page.element("p", {{"class", "warn"}}, "Note: " + open + ".");
    page.element("p", {{"class", "muted"}},
                 folder + ", PyTorch " + judged.header.framework + ", " +
                     counted(static_cast<std::uint64_t>(judged.all.elements), "element") + " judged");
  }
  navigation(page, judged);
  const auto bar = page.open("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "View"}});
  theme_radios(page);
}

void element_rows(Markup& page, const JudgedResult& result) {
  if (result.elements_worst.empty()) return;
  Table table(page, "Worst elements of " + result.name, {"Element", ">Found", ">Expected", ">Allowed", ">r"});
  for (const JudgedElement& each : result.elements_worst) {
    auto row = table.row();
    row.head(short_list(each.place));
    row.cell(nine_digits(each.found));
    row.cell(nine_digits(each.expected));
    row.cell("\u00B1 " + significant(each.allowed));
    row.cell(significant(each.r));
  }
}

void command(Markup& page, const char* what, const std::string& line) {
  page.element("p", {}, what);
  page.element("pre", {{"tabindex", "0"}}, line);
}

void first_failure(Markup& page, const JudgedRecording& judged, const std::string& folder, const std::string& script) {
  if (judged.failures.empty()) return;
  const JudgedOperation& first = judged.failures.front();
  const auto section = page.open("section", {{"aria-labelledby", "first"}});
  page.element("h2", {{"id", "first"}}, "First failure");
  const auto article = page.open("article");
  page.element("h3", {}, short_name(first.place.operation) + " " + fault_of(first.judged));
  {
    const auto list = page.open("dl");
    const auto fact = [&page](const char* name, const std::string& text, bool code = false) {
      if (text.empty()) return;
      page.element("dt", {}, name);
      const auto value = page.open("dd");
      code ? page.element("code", {}, text) : page.text(text);
    };
    fact("Operation", std::to_string(first.place.number) + ", " + first.place.operation);
    fact("Phase", first.place.phase + ", step " + std::to_string(first.place.step));
    fact(first.place.phase == "backward" ? "Line, of its forward operation or of backward()" : "Line",
         short_where(first.place.where), true);
    fact("Module", first.place.module, true);
    for (const JudgedResult& result : first.judged.results)
      if (result.fails())
        fact("Result", result.name + " " + short_list(result.sizes) + " " + result.format + ", " + wrong_text(result));
  }
  for (const JudgedResult& result : first.judged.results)
    if (result.fails()) element_rows(page, result);
  if (!script.empty()) command(page, "Repeat it with PyTorch alone:", "python3 " + shell_word(script));
  command(page, "All of its results:",
          "tally check-operations " + shell_word(folder) + " --operation " + std::to_string(first.place.number));
}

void failure_rows(Markup& page, const char* caption, const JudgedRecording& judged, std::size_t from, std::size_t to) {
  Table table(page, caption, {"Operation", "What is wrong", ">r", ">Wrong", "Line", "Module"});
  for (std::size_t i = from; i < to; ++i) {
    const JudgedOperation& failure = judged.failures[i];
    std::int64_t wrong = 0;
    for (const JudgedResult& result : failure.judged.results) wrong += result.wrong;
    auto row = table.row("fail");
    row.head(std::to_string(failure.place.number) + " " + short_name(failure.place.operation));
    row.cell(fault_of(failure.judged));
    row.cell(significant(failure.judged.worst()));
    row.cell(whole(wrong));
    row.cell(failure.place.phase + (failure.place.where.empty() ? "" : " at " + short_where(failure.place.where)));
    row.cell(failure.place.module);
  }
}

void other_failures(Markup& page, const JudgedRecording& judged) {
  const std::size_t all = judged.failures.size();
  if (all < 2) return;
  const auto section = page.open("section", {{"aria-labelledby", "further"}});
  page.element("h2", {{"id", "further"}}, "Other failures");
  page.element(
      "p", {},
      "In the program's order. Each was held to its own recorded inputs, so none is wrong because of another.");
  const std::size_t first = std::min(all, 1 + failures_at_once);
  failure_rows(page, "Operations that fail behind the first", judged, 1, first);
  if (first < all) {
    const auto details = page.open("details");
    page.element("summary", {}, "and " + std::to_string(all - first) + " more");
    failure_rows(page, "The rest", judged, first, all);
  }
  if (judged.all.failed > static_cast<std::int64_t>(all))
    page.element("p", {},
                 "And " + counted(static_cast<std::uint64_t>(judged.all.failed) - all, "operation") +
                     " more, which only the tables below count.");
}

void non_finite(Markup& page, const JudgedRecording& judged) {
  if (!judged.first_non_finite) return;
  const auto section = page.open("section", {{"aria-labelledby", "non-finite"}});
  page.element("h2", {{"id", "non-finite"}}, "First infinities or NaN");
  page.element("p", {},
               "The first operation that makes them of finite numbers: " + place_text(*judged.first_non_finite) +
                   ". That may be right: a mask of minus infinities, a logarithm of zero.");
}

void reading_section(Markup& page) {
  const auto section = page.open("section", {{"aria-labelledby", "reading"}});
  page.element("h2", {{"id", "reading"}}, "How to read this page");
  ratio_formula(page);
  const auto list = page.open("dl");
  const auto term = [&page](const char* name, const char* meaning) {
    page.element("dt", {}, name);
    page.element("dd", {}, meaning);
  };
  term("judged",
       "Every element of every result against the exact result of the operation's own recorded inputs. An error made "
       "earlier is no fault of this operation.");
  term("allowed", "The largest error of correct arithmetic: any order of additions, one rounding each. Derived.");
  term("r", "The error over what is allowed. Above 1 an element is wrong; infinite where nothing is allowed.");
  term("less precise",
       "Every element is inside of its bound, and all together are farther off than independent roundings leave: sums "
       "in a shorter format, such as TF32 or bfloat16.");
  term("nothing to hold", "A view of a tensor, memory without contents, numbers that are drawn.");
  term("undecided", "The element may overflow, or be divided by 0: no rule says what it is then.");
  term("vacuous", "As much is allowed as the values are large: the result shows nothing.");
  term("exit codes", "0 pass, 1 fail, 2 unreadable input, 4 no operation could be judged.");
}

}  // namespace

std::string operations_html(const JudgedRecording& judged, const std::string& folder, const std::string& script) {
  const auto [word, sentence] = verdict_of(judged);
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + word + "  " + sentence);
    page.newline();
    const auto body = page.open("body");
    page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
    header(page, judged, folder);
    {
      const auto main = page.open("main", {{"id", "main"}});
      first_failure(page, judged, folder, script);
      other_failures(page, judged);
      non_finite(page, judged);
      operations_tables(page, judged);
      operations_limits(page, judged);
      reading_section(page);
    }
    const auto footer = page.open("footer");
    page.element("p", {}, "Made by Tally from operations.jsonl and bits.bin.");
  }
  return out + '\n';
}

}  // namespace tally
