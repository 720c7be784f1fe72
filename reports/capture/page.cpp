// A capture's page: its header, how to read it, its files.
#include "reports/capture/page.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "reports/html/document.hpp"
#include "reports/text/stored_text.hpp"
#include "reports/text/text.hpp"
#include "reports/text/words.hpp"

namespace tally {
namespace {

void body(Markup& page, const CaptureRecord& capture, std::string_view document) {
  const auto open = page.open("body");
  page.element("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the results");
  capture_header(page, capture);
  {
    const auto main = page.open("main", {{"id", "main"}});
    capture_grid_section(page, capture);
    capture_ranks_section(page, capture);
    capture_failure_section(page, capture);
    capture_suspects_section(page, capture);
    capture_stages_section(page, capture);
    capture_words_sections(page, capture);
    capture_reading_section(page, capture);
  }
  const auto footer = page.open("footer");
  page.element("p", {}, "Made by Tally from check.json, SHA-256 ");
  page.element("code", {}, hex(sha256_digest(document)));
}

}  // namespace

std::string capture_html(const CaptureRecord& capture, std::string_view document) {
  std::string out = "<!DOCTYPE html>\n";
  {
    Markup page(out);
    const auto html = page.open("html", {{"lang", "en"}});
    page_head(page, "Tally: " + headline_of(capture));
    page.newline();
    body(page, capture, document);
  }
  return out + '\n';
}

namespace {

Status status_of(const CaptureRecord& capture) {
  return capture.verdict == "pass" ? Status::pass : capture.verdict == "fail" ? Status::fail : Status::not_run;
}

std::size_t checks_of(const CaptureRecord& capture, Status status) {
  return static_cast<std::size_t>(std::count_if(capture.checks.begin(), capture.checks.end(),
                                                [status](const TensorCheck& check) { return check.status == status; }));
}

void headline(Markup& page, const CaptureRecord& capture) {
  const std::string text = headline_of(capture);
  const auto space = text.find("  ");
  const auto h1 = page.open("h1");
  page.element("span", {{"class", "word"}}, std::string(mark_of(status_of(capture))) + " " + text.substr(0, space));
  page.text(" " + text.substr(space + 2));
}

void counts(Markup& page, const CaptureRecord& capture) {
  const auto list = page.open("ul", {{"class", "chips"}});
  for (const Status status : {Status::pass, Status::fail, Status::vacuous, Status::not_run}) {
    const std::size_t n = checks_of(capture, status) + (status == Status::fail ? checks_of(capture, Status::error) : 0);
    const auto item = page.open("li");
    page.element("span", {{"class", n > 0 ? "s " + class_of(status) : "muted"}},
                 mark_and_word(status) + " " + grouped(n));
  }
  page.element("li", {}, "of " + counted(capture.checks.size(), "tensor check"));
}

/// Whether forward and backward are the capture's own.
bool has_given_gradients(const CaptureRecord& capture) {
  return std::ranges::any_of(capture.not_judged,
                             [](const std::string& what) { return what.starts_with("forward and backward: given"); });
}

/// "2 of 59 tensor checks are outside their bounds, first at stage loss".
std::string outside_of(const CaptureRecord& capture) {
  const std::size_t failed = failed_checks(capture);
  return grouped(failed) + " of " + counted(capture.checks.size(), "tensor check") + (failed == 1 ? " is" : " are") +
         " outside their bounds, first at stage " + capture.first_stage;
}

/// What to change, where, and what fails first.
void failure(Markup& page, const CaptureRecord& capture) {
  if (failed_checks(capture) == 0) return;
  if (const std::string remedy = first_remedy_of(capture); !remedy.empty()) {
    const auto p = page.open("p", {{"class", "bad"}});
    page.text("What to change: ");
    with_code(page, remedy);
  }
  if (!capture.place.empty()) {
    const auto p = page.open("p");
    page.text("At " + capture.place + (capture.place_text.empty() ? "" : ": "));
    if (!capture.place_text.empty()) page.element("code", {{"class", "long"}}, capture.place_text);
  }
  page.element("p", {}, outside_of(capture) + ".");
  if (!capture.first_tap.empty() && !capture.sentence.empty())
    page.element("p", {}, "First wrong: " + capture.sentence + ".");
}

/// What the recipe itself changes; of a capture that fails that is not what the loop does, which stands beside it.
void gap(Markup& page, const CaptureRecord& capture) {
  const std::string recipe = "Semantic gap of the recipe that was stated (" + capture.recipe + "): ";
  if (!capture.gap_sentence.empty())
    page.element("p", {{"class", "warn"}}, recipe + capture.gap_sentence + ".");
  else if (capture.semantic_gap)
    page.element("p", {},
                 recipe + "none, in exact arithmetic it gives the full batch's gradient" +
                     std::string(has_given_gradients(capture) ? ", of a model that treats every row by itself." : "."));
  if (failed_checks(capture) > 0) page.element("p", {}, "The loop's own gap: " + own_gap_of(capture) + ".");
}

void drift(Markup& page, const CaptureRecord& capture) {
  gap(page, capture);
  if (failed_checks(capture) == 0 && capture.rounding_drift)
    page.element("p", {},
                 "Rounding drift of the first window's gradient: " + significant(*capture.rounding_drift) +
                     " of its norm, bound " + significant(capture.drift_bound.value_or(0)) + ".");
}

void navigation(Markup& page, const CaptureRecord& capture) {
  const auto nav = page.open("nav", {{"aria-label", "Sections"}});
  const auto list = page.open("ul");
  const auto link = [&page](const char* id, const char* text) {
    const auto item = page.open("li");
    page.element("a", {{"href", std::string("#") + id}}, text);
  };
  link("grid", "Stages and micro-batches");
  if (!capture.ranks.empty()) link("ranks", "Ranks");
  if (failed_checks(capture) > 0) link("failing", "Outside their bounds");
  if (!capture.suspects.empty()) link("suspects", "What it looks like");
  link("stages", "Stages");
  link("open", "Not judged");
  if (!capture.assumptions.empty()) link("assumed", "Assumed");
  link("claims", "Claims");
  link("reading", "How to read");
}

}  // namespace

std::size_t failed_checks(const CaptureRecord& capture) {
  return checks_of(capture, Status::fail) + checks_of(capture, Status::error);
}

std::string headline_of(const CaptureRecord& capture) {
  const std::string all = counted(capture.checks.size(), "tensor check");
  const std::size_t failed = failed_checks(capture), vacuous = checks_of(capture, Status::vacuous);
  if (failed > 0) return "FAIL  " + (capture.cause.empty() ? outside_of(capture) : capture.cause);
  if (capture.verdict == "pass")
    return "PASS  " + counted(capture.checks.size() - vacuous, "tensor check") + " inside their bounds" +
           (vacuous > 0 ? ", " + grouped(vacuous) + " vacuous" : "");
  const std::size_t missing = checks_of(capture, Status::not_run);
  if (missing > 0) return "NOT JUDGED  the taps for " + grouped(missing) + " of " + all + " are missing";
  if (capture.verdict == "vacuous") return "VACUOUS  " + capture.sentence;
  return "NOT JUDGED  every bound is wider than its signal: nothing was shown";
}

void capture_header(Markup& page, const CaptureRecord& capture) {
  const auto header = page.open("header");
  page.element("p", {{"class", "eyebrow"}},
               "Tally \u00B7 a capture against its exact answer" +
                   (capture.case_name.empty() ? "" : " \u00B7 case " + capture.case_name));
  {
    const auto box = page.open("div", {{"class", "verdict " + class_of(status_of(capture))}});
    headline(page, capture);
    failure(page, capture);
    page.element(
        "p", {},
        capture.case_title + (capture.lenses == "local" ? "; by --lens local: each stage by its own inputs only" : ""));
    counts(page, capture);
    drift(page, capture);
  }
  navigation(page, capture);
  const auto bar = page.open("div", {{"class", "bar"}, {"role", "group"}, {"aria-label", "View"}});
  theme_radios(page);
}

namespace {

void words(Markup& page) {
  const auto list = page.open("dl");
  const auto term = [&page](const char* name, const char* meaning) {
    page.element("dt", {}, name);
    page.element("dd", {}, meaning);
  };
  term("bound", "The largest error of correct arithmetic, given the claims. Derived, never tuned.");
  term("tensor",
       "Named by its place: w0/m1/loss/d.y is of window 0, micro-batch 1, stage loss. in. stands before what the stage "
       "read, d. before a gradient, buffer. before an accumulated one (.grad). loss/in.factor is what each item's loss "
       "is multiplied by, loss/d.y the gradient of the model's output.");
  term("by itself, local lens",
       "A stage against the exact function of its own input bits. The first stage that fails is the place.");
  term("group lens, unscale..optimizer",
       "Stages between which nothing was recorded, judged as one: from the inputs of the first to the outputs of the "
       "last.");
  term("end to end, end_to_end lens",
       "From the initial bits of the case, value and bound carried through every stage.");
  term("semantic gap", "The difference of the stated recipe from the full batch, in exact arithmetic.");
  term("the loop's own gap",
       "The distance of the loop's gradient from the stated recipe's, in the first failing window.");
  term("rounding drift", "What the run's arithmetic adds to the exact accumulated answer.");
  term("vacuous", "The bound is wider than the signal, so the check shows nothing. It never counts as a pass.");
  term("exit codes",
       "0 pass, 1 failed, 2 wrong usage or unreadable input, 3 the machine lacks something (memory, disk) or Tally "
       "itself failed, 4 tensors are missing or everything is vacuous, 130 interrupted. Other commands return 5 only "
       "for unblessed new cases, 77 where a device is absent.");
}

}  // namespace

void capture_reading_section(Markup& page, const CaptureRecord& capture) {
  const auto section = page.open("section", {{"aria-labelledby", "reading"}});
  page.element("h2", {{"id", "reading"}}, "How to read this page");
  ratio_formula(page);
  words(page);
  page.element("p", {{"class", "muted"}}, "The case's hash is " + capture.case_hash + ".");
}

std::vector<FileText> capture_files(const CaptureRecord& capture, const std::filesystem::path& folder) {
  std::string document = to_json(capture), page = capture_html(capture, document);
  return {{(folder / "check.json").string(), std::move(document)},
          {(folder / "report.html").string(), std::move(page)}};
}

}  // namespace tally
